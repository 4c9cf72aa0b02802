"""How memories replace each other: contradictions, versions, edits, clears."""
