"""The memory's models and rules, without I/O, a clock or ids of their own."""
