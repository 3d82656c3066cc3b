"""`bench`: what memory is measured with, each benchmark a command."""
