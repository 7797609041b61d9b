"""What Warploom keeps on disk: where, and how it is written."""
