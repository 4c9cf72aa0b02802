"""Microsoft's own Python worker library, driven without a Functions host: what its README says it
proves, and what not.
"""
