"""An index of a user's memories, which a store keeps in memory."""
