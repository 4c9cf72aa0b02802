"""An index of one user's memories, held in memory by a store."""
