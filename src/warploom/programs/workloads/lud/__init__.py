"""LU decomposition in blocks."""
