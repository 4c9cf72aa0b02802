"""The calls of MemoryCore, a part of the product in each file: what they are named, what they count, and whom they ask."""
