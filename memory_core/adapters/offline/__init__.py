"""Stand-ins that need no model and no network."""
