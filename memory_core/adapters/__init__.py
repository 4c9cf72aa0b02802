"""Adapters that implement the ports, with a folder for each technology."""
