"""Scalar products of many pairs of vectors."""
