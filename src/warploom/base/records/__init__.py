"""Records that compiled code reads and writes: each is defined once, as a class whose annotations are its fields.

    class Warp(Record):
        next: i8  # index in the trace
        pending: Annotated[Array[Mask], REGISTER_WORDS]
        map: Annotated[Array[i2], MAX_WARPS, MAX_REGISTERS]

`dtype_of(Warp)` is the NumPy dtype, aligned, with the fields in this order; Numba compiles for that dtype and never sees the
class. A type checker sees the class: a misspelt field is found before anything is compiled. At run time a record is a
``numpy.record``, or a pointer in compiled code; of its class no object is made, but where it is a dataclass too, whose
objects hold what is to be written to records (the tables of a machine).

An enumeration of whole numbers is a field's type like any other number: ``Annotated[Model, "i8"]``.

A class may derive from others: their fields come first, from left to right. A field whose annotation is `Any` has a dtype that is
only known later (the state of a policy); whoever asks for the dtype gives it.
"""

from warploom.base.records.blank import blank_records
from warploom.base.records.fields import (
    Array,
    Lanes,
    Mask,
    Record,
    dtype_of,
    f8,
    field_names,
    field_types,
    flag,
    i1,
    i2,
    i4,
    i8,
    int64,
    own_dtype,
    typed,
    u1,
    u2,
    u4,
    u8,
    with_length,
)

__all__ = [
    "Array",
    "Lanes",
    "Mask",
    "Record",
    "blank_records",
    "dtype_of",
    "f8",
    "field_names",
    "field_types",
    "flag",
    "i1",
    "i2",
    "i4",
    "i8",
    "int64",
    "own_dtype",
    "typed",
    "u1",
    "u2",
    "u4",
    "u8",
    "with_length",
]
