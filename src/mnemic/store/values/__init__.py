"""What goes into a store and comes out of it, as plain values."""
