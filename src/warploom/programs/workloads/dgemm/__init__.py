"""Matrix multiplication in double precision."""
