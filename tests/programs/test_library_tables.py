"""What the library in place of CUDA's runtime is made from: sizes of structures, errors, exports, operations."""

from __future__ import annotations

import pytest

from warploom.programs.beside import BesideGpu
from warploom.programs.library import error_table, exported_functions
from warploom.programs.properties import layout
from warploom.programs.protocol import OPERATIONS
from warploom.programs.runtime import Runtime


@pytest.mark.parametrize(("major", "size"), [(11, 728), (12, 1032), (13, 1008)])
def test_device_properties_have_the_size_of_their_version(major: int, size: int) -> None:
    assert layout(major).itemsize == size
    fields = layout(major).fields
    assert fields is not None and fields["warpSize"][1] == 308


def test_the_tables_of_the_library_are_whole() -> None:
    assert error_table()[700][0] == "cudaErrorIllegalAddress"
    assert all(len(exported_functions(major)) > 380 for major in (11, 12, 13))
    assert "cudaLaunchKernel" in exported_functions(11) and "__cudaLaunchKernel" not in exported_functions(11)
    for operation in OPERATIONS:
        assert hasattr(Runtime, operation.name) or hasattr(BesideGpu, operation.name), operation.name
