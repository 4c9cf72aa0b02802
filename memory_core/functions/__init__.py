"""The HTTP interface of Memory Core: thin Azure Functions over `MemoryCore`.

Every function passes `gate.gated`.
"""
