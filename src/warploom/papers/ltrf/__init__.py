"""LTRF (ASPLOS 2018): registers prefetched by intervals into a cache before a large slow main file."""

POLICIES = ("ltrf",)
