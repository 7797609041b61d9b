"""Phong shading of a bumpy, textured surface."""
