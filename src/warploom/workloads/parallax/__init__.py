"""Parallax occlusion mapping."""
