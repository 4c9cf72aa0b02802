"""Memories settle while nobody waits: they fade, grow cold, are forgotten, move house or go for good."""
