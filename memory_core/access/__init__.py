"""Access: the keys that admins make, and the log of what was done with keys and with
users' data.
"""
