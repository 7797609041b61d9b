"""Dense matrix product in 16 x 16 tiles."""
