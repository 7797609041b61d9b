"""Ours beside measured: what a real chip was measured to do, what the model of it says, and how far they are apart."""
