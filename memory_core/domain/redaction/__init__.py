"""Secrets that are removed from texts before they are stored.

Personal data is removed too where a setting says so.
"""
