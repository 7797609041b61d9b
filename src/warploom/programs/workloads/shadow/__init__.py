"""Soft shadows from a shadow map."""
