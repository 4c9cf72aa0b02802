"""The archive in a folder of this machine."""
