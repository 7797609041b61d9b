"""Cheapest way through a grid, row by row."""
