"""Requests that Schemathesis generates from /openapi.json, sent to a running host."""
