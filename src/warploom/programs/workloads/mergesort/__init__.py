"""Merge sort of key-value pairs (the kind of the CUDA SDK's mergeSort)."""
