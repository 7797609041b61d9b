"""Gaussian elimination, one column at a time."""
