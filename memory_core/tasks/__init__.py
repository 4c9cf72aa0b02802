"""Work that goes on after a call was answered.

It consists of tasks, their leases, and operations over many memories.
"""
