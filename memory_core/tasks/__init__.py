"""Work that goes on after a call was answered: tasks, their leases, and operations over
many memories.
"""
