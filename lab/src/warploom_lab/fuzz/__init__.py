"""Spoilt inputs of every kind that Warploom reads."""
