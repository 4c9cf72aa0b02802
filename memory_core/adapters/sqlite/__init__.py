"""The embedded long-term store: a SQLite file, with numpy columns for searching."""
