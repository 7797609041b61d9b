"""Single-precision matrix product, sixteen results a thread."""
