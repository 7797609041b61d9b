"""Breathing operand windows (MICRO 2020): values are forwarded between neighbouring instructions inside the collector."""

POLICIES = ("bow",)
