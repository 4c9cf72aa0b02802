"""Files that can be imported, with a reader for each format.

They are exports of chat apps and of mem0, and JSON Lines of messages or memories.
"""
