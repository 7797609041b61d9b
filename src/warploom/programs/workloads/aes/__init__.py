"""Encryption by the Advanced Encryption Standard."""
