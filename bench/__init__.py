"""Measurements of Memory Core on the machine at hand: speed (`bench.throughput`) and retrieval
quality (`bench.retrieval`).
"""
