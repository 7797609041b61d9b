"""Procedural noise."""
