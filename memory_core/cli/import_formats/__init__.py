"""Files that can be imported, a reader for each format: exports of chat apps and of mem0, JSON
Lines of messages or memories.
"""
