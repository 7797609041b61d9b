"""The memory system: an SM's load/store unit with its caches, the crossbar, L2 slices and DRAM channels."""
