"""Breadth-first search with a work queue (the kind of Parboil's BFS)."""
