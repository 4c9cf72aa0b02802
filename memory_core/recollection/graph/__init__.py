"""An evolution as a drawing: what stands in it, where it stands, and how it is written in each format."""
