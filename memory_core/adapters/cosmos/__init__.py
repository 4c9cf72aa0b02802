"""The long-term store on Azure Cosmos DB for NoSQL: each user's world in one logical partition of
one container.
"""
