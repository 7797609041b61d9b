"""Separable Gaussian blur of a picture."""
