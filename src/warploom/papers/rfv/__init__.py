"""GPU Register File Virtualization (MICRO 2015).

The policy in ``rfv`` has its mechanisms in files of their own: ``mapping`` stands on ``throttling``, ``reserved_memory`` on these
two, ``releasing`` on ``reserved_memory`` and ``throttling``; ``flag_cache``, ``notes`` and ``reporting`` stand alone. The
compiler's half is in ``release_points``, which writes the instructions of ``release_flags``, and in ``lifetimes``.
"""

from warploom.base.library import Paper

PAPER = Paper(
    name="rfv",
    title="Register file virtualization and GPU-shrink",
    citation="Jeon, Ravi, Kim, Annavaram: GPU Register File Virtualization, MICRO 2015",
    year=2015,
    address="https://doi.org/10.1145/2830772.2830784",
    package=__name__,
    policies=("hardware_renaming", "rfv", "subarray_gating"),
)
