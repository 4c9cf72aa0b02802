"""What a memory is: models and rules, without I/O, a clock or ids of its own."""
