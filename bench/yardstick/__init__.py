"""Memory Core measured over HTTP on conversation sets, in the ways that it is used,
beside plain search.
"""
