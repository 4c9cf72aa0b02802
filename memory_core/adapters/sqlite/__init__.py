"""The embedded long-term store: one SQLite file, and each user's memories in numpy columns
for searching.
"""
