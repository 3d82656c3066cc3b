"""`hook`: what a client's own events recall from memory and write into it."""
