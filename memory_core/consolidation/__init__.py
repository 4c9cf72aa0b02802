"""What happens to memories while no caller waits: merging, decay, archive, forgetting,
export and import, erasure.
"""
