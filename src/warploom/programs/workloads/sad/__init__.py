"""Motion estimation: sums of absolute differences."""
