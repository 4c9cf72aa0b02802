"""What is sent to Azure: the app without what stays behind, its packages, the
tokenizer's vocabulary.
"""
