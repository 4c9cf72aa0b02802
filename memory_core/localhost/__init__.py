"""The development host serves the functions of `function_app.py` without Azure's host.

It substitutes for that host on a single machine, and does not replace it. It does not scale beyond
the cores of the machine, and has no admin site.
"""
