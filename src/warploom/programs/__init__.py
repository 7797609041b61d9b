"""Whole CUDA programs: run unchanged in place of their runtime library, recorded, and run again from the recording."""
