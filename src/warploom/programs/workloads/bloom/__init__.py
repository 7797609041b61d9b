"""Glow around bright parts of a picture."""
