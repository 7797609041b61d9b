"""Two-dimensional discrete wavelet transform (the kind of Rodinia's dwt2d)."""
