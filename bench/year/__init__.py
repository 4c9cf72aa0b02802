"""A year of three lives on an injected clock: what is found, what is stored and what the runs cost,
month by month.
"""
