"""The long-term store on Azure Cosmos DB for NoSQL.

Each user is in a single logical partition of a container.
"""
