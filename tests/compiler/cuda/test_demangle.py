"""Mangled names as C++ spells them; the expected spellings are those of GNU's demangler."""

import pytest

from warploom.compiler.cuda.demangle import demangle


@pytest.mark.parametrize(
    ("mangled", "whole", "last"),
    [
        ("vectoradd", "vectoradd", "vectoradd"),
        ("_Z4blurPKfPfi", "blur(float const*, float*, int)", "blur"),
        ("_Z1kPiS_", "k(int*, int*)", "k"),
        ("_Z4noneV", "_Z4noneV", "_Z4noneV"),
        ("_Z4nonev", "none()", "none"),
        ("_ZN3cub6detail4scanIiEEvPT_", "cub::detail::scan<int>(int*)", "scan"),
        ("_ZN12_GLOBAL__N_16hiddenEPi", "(anonymous namespace)::hidden(int*)", "hidden"),
        ("_Z3fooILi3ELb1EEvPKcRi", "foo<3, true>(char const*, int&)", "foo"),
        ("_ZN1aIiE1bIfEEvT_N1aIdEE", "a<int>::b<float>(float, a<double>)", "b"),
        (
            "_ZN3cub6detail4scan20DeviceScanInitKernelINS_13ScanTileStateIiLb1EEEEEvT_i",
            "cub::detail::scan::DeviceScanInitKernel<cub::ScanTileState<int, true>>(cub::ScanTileState<int, true>, int)",
            "DeviceScanInitKernel",
        ),
        (
            "_ZN2at6native6kernelIZZNS0_9exp_floatERNS_4IterEENKUlvE_clEvEUlfE0_EEvT_i",
            "at::native::kernel<at::native::exp_float(at::Iter&)::{lambda()#1}::operator()() const::{lambda(float)#2}>"
            "(at::native::exp_float(at::Iter&)::{lambda()#1}::operator()() const::{lambda(float)#2}, int)",
            "kernel",
        ),
        ("_Z99x", "_Z99x", "_Z99x"),
        ("_Z", "_Z", "_Z"),
    ],
)
def test_names(mangled: str, whole: str, last: str) -> None:
    assert demangle(mangled).whole == whole
    assert demangle(mangled).last == last


def test_people_may_leave_out_what_they_like() -> None:
    spellings = demangle("_ZN3cub6detail4scanIiEEvPT_").spellings()
    assert {"scan", "scan<int>", "detail::scan", "cub::detail::scan<int>", "cub::detail::scan<int>(int*)"} <= spellings
    assert "cub" not in spellings
