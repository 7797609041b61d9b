"""Nearest neighbours of a place."""
