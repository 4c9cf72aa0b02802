"""How one memory replaces another: contradiction, versions, edits, clearing."""
