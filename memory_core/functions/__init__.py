"""The HTTP door of Memory Core: thin Azure Functions over `MemoryCore`. Every one of them passes
`gate.gated`.
"""
