"""Tracking of points on a heart wall through a sequence of images."""
