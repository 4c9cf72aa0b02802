"""The short-term store: on a Redis server, in this process, or none."""
