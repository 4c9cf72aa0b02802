"""What callers may ask for: the inputs of all calls."""
