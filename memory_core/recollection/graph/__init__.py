"""An evolution as a drawing: what is in it, where each part is, and how it is written in
each format.
"""
