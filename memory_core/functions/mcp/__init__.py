"""The Model Context Protocol over `MemoryCore`: tools, resources, prompts, and the server that
offers them.

Only `server` and `http` import the SDK. What a tool takes, does and answers is written without it.
"""
