"""Breadth-first search, level by level."""
