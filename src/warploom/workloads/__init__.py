"""The programs of the five papers: CUDA source of our own, its PTX, inputs, launches and reference results."""
