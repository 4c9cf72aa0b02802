"""What Azure's resource types and Terraform's providers accept, taken once out of
published packages.
"""
