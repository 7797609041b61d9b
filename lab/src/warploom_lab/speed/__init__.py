"""What measures Warploom's own speed beyond `warploom bench`."""
