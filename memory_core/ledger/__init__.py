"""Writing: the commit loop, receipts, cursors, sessions, updates of the short-term store."""
