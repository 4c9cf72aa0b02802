"""Truth: which of several statements of one slot holds, and when."""
