"""Batched fast Fourier transforms."""
