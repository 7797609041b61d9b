"""Sum of a long array."""
