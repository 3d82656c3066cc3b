"""What a session costs, and how much of its window a prefix cache keeps."""
