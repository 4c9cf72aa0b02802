"""Queues of work: Azure Storage Queues, and what every queue has in common. The embedded one is `sqlite.queue`."""
