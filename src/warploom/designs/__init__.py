"""Designs: named points and combinations, as text, TOML or Python.

    parse_design("rfv(shrink=0.7) + encoding=bdi")
    design("baseline", scheduler="lrr")
    load_design("mine.toml")

A text may begin with named designs; a choice that the text makes itself (``encoding=bdi``, or a policy's name alone where
only one choice has it) beats what they bring. ``register_file=0.5`` halves the physical registers; ``max_registers=24``
makes the compiler spill, ``max_registers=fit`` as much as keeps the CTAs of the whole file resident; ``max_registers=least`` has
it use as few registers as need no spill.
"""

from warploom.designs.describe import added_area, describe_code, describe_designs, describe_policies, storage_bits
from warploom.designs.design import FIT, LEAST, Design, from_dict
from warploom.designs.reading import design, load_design, named_designs, parse_design

__all__ = [
    "FIT",
    "LEAST",
    "Design",
    "added_area",
    "describe_code",
    "describe_designs",
    "describe_policies",
    "design",
    "from_dict",
    "load_design",
    "named_designs",
    "parse_design",
    "storage_bits",
]
