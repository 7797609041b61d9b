"""Whole programs and all workloads, run and compared."""
