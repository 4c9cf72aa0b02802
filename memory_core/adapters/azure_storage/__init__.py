"""Blobs and queues of an Azure storage account."""
