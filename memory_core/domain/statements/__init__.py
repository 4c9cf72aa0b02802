"""Rules that read people's statements, by their words.

They find provenance, changes, contradictions, wishes and durable facts.
"""
