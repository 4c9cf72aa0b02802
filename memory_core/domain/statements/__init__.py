"""What is read of people's statements: provenance, changes, contradictions, wishes,
durable facts.
"""
