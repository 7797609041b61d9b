"""Temperature of a chip under a power map."""
