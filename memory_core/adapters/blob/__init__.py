"""The archive in Azure Blob Storage."""
