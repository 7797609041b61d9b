"""What the sources are like, as numbers."""
