"""What kernels of a program print comes where hardware shows it; assertions and the heap on the device are CUDA's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from warploom.runs.live import ProgramRun

Execute = Callable[..., tuple[int, ProgramRun]]


@pytest.mark.parametrize("code", ["ptx", "sm_90"])
def test_what_is_printed_appears_when_the_program_waits(
    execute: Execute, compiled: Callable[..., Path], code: str, capfd: pytest.CaptureFixture[str]
) -> None:
    status, _ = execute([str(compiled("speaking.cu"))], code=code)
    said = "".join(f"thread {n} of 3 says {0.5 * n}\n" for n in range(3))
    assert (status, *capfd.readouterr()) == (0, f"before\nlaunched\n{said}after\n", "")


def test_a_failed_assertion_is_cudas_error(
    execute: Execute, compiled: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    status, _ = execute([str(compiled("speaking.cu")), "assert"], code="sm_90")
    out, err = capfd.readouterr()
    assert (status, out) == (0, "thread 0 of 1 says 0.0\ncudaErrorAssert\ncudaErrorAssert\n")
    assert "speaking.cu:8: void check(int): block: [0,0,0], thread: [30,0,0] Assertion `threadIdx.x < n` failed." in err


def test_the_heap_has_the_size_that_was_asked_for(
    execute: Execute, compiled: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    """Of 1 MiB, 32 KiB are taken and given back; then 64 KiB fit 15 times."""
    status, _ = execute([str(compiled("speaking.cu")), "memory"], code="sm_90")
    out, err = capfd.readouterr()
    assert (status, out, err) == (0, f"32 {7 * 496}\n15 {7 * 105}\ncudaErrorInvalidValue\n", "")
