"""How a memory is made: from what a caller sent to a durable commit."""
