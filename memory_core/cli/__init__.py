"""The command line `memory-core`, on the public HTTP contract: of a service at an address,
or of this machine's data folder.
"""
