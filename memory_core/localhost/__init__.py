"""The development host: serves the functions of `function_app.py` on one machine,
where Azure's own host is not.

It stands in for that host, it does not replace it: no scaling beyond the cores of one machine, no
admin site.
"""
