"""Users' rights to their data: forget, erase, export and import."""
