"""The inputs of all calls."""
