"""Matching of DNA reads against a suffix tree."""
