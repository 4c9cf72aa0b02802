"""How a memory is found again."""
