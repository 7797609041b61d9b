"""Prices of European options by the Black-Scholes formula."""
