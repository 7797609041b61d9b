"""Sum of two vectors."""
