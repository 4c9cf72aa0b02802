"""The Model Context Protocol over `MemoryCore`: tools, resources, prompts and the server.

Only `server` and `http` import the SDK. Arguments, work and answers of tools are written without
it.
"""
