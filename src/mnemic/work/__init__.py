"""What follows a write: lanes and jobs, when they run, who runs them."""
