"""Embedders that run on this machine, and the cache before any embedder."""
