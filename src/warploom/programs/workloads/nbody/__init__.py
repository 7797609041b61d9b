"""All-pairs gravitation (the kind of the CUDA SDK's nbody)."""
