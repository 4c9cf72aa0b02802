"""Substitutes for models that need no model and no network."""
