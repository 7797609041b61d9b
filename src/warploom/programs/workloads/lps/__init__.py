"""Laplace's equation in three dimensions by Jacobi iteration."""
