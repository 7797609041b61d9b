"""Changed sources that a test should notice."""
