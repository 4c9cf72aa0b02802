"""An evolution as a drawing: its nodes, their places, and its source in each format."""
