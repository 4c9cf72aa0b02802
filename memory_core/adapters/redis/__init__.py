"""The short term on Redis: a real server, the same code over an in-process one, or none."""
