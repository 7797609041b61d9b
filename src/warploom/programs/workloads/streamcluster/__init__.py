"""Clustering of a stream of points by local search."""
