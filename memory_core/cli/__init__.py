"""The command line `memory-core`, on the public HTTP contract.

It works on a service at an address, or on this machine's data folder.
"""
