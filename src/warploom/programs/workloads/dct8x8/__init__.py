"""Discrete cosine transform of 8 x 8 blocks of an image."""
