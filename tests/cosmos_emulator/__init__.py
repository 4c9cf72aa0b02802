"""A stand-in for the part of Azure Cosmos DB for NoSQL that Memory Core uses,
at the level of its HTTP protocol.

Started as a process (`python -m tests.cosmos_emulator`) and driven by the real SDK. It proves
protocol, not performance, request units, recall or what real replicas do: README.md beside this
file says where it stops.
"""
