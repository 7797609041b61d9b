"""Machine code: instructions on 32-bit registers and predicates, its control flow, and what can be known of it.

Knows nothing of PTX (where the code came from) nor of timing (what becomes of it).
"""
