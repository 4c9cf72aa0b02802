"""How writing is done: the commit loop, receipts, cursors, sessions, the short term's follow-up."""
