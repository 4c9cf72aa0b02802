"""A small app with queue functions, which tests run in the development host: what is asked of the
host, without the product's work.
"""
