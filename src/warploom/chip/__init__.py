"""The chip: machines as data, the state of an SM and its hooks, pipelines, memory, the chip loop, the shadow checker."""
