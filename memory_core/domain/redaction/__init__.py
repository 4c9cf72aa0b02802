"""What is taken out of texts before they are kept: secrets, and personal data where a
setting says so.
"""
