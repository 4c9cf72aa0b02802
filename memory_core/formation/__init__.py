"""Making a memory: from a caller's request to a durable commit."""
