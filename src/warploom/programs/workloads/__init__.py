"""The programs of the five papers: CUDA source of our own, its PTX, inputs, launches and reference results.

One folder each; `warploom.programs.workloads.registry` finds them, `warploom.programs.program` makes something to run of them or
of a user's own kernel.
"""
