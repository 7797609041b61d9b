"""Kernels of a user's own file: how they are named, where errors are, and which of them are refused."""

from pathlib import Path

import pytest

from support.places import ROOT
from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.cuda import compile_to_ptx
from warploom.compiler.ptx import parse
from warploom.programs.custom import find_kernel, kernel_titles, read_source
from warploom.programs.own_kernel import OwnKernel

NAMES = """
namespace cub { namespace detail {
template <typename T> __global__ void scan(T* p) { p[threadIdx.x] += 1; }
template __global__ void scan<int>(int*);
template __global__ void scan<float>(float*);
__global__ void sort(int* p) { *p = 2; }
} }
__global__ void over(int* p) { *p = 1; }
__global__ void over(float* p) { *p = 1; }
"""


def module_of(path: Path, source: str):
    path.write_text(source)
    file = read_source(str(path))
    return parse(file.ptx, file.place)


def test_kernels_in_namespaces_are_told_apart(tmp_path: Path) -> None:
    module = module_of(tmp_path / "names.cu", NAMES)
    assert set(kernel_titles(module.kernels).values()) == {
        "cub::detail::scan<int>",
        "cub::detail::scan<float>",
        "cub::detail::sort",
        "over(int*)",
        "over(float*)",
    }
    with pytest.raises(WarploomError, match=r"several kernels.*: .*cub::detail::scan<int>"):
        find_kernel(module, None, "names.cu")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("sort", "_ZN3cub6detail4sortEPi"),
        ("detail::sort", "_ZN3cub6detail4sortEPi"),
        ("cub::detail::sort(int *)", "_ZN3cub6detail4sortEPi"),
        ("_ZN3cub6detail4sortEPi", "_ZN3cub6detail4sortEPi"),
        ("scan<float>", "_ZN3cub6detail4scanIfEEvPT_"),
        ("over(float*)", "_Z4overPf"),
        ("scan", "may be any of these; give one of them whole: .*scan<int>"),
        ("over", "may be any of these.*over"),
        ("cub", "there is no kernel 'cub'"),
    ],
)
def test_a_kernel_is_found_by_any_name_that_tells_it_apart(tmp_path: Path, wanted: str, found: str) -> None:
    module = module_of(tmp_path / "names.cu", NAMES)
    if found.startswith("_Z"):
        assert find_kernel(module, wanted, "names.cu") == found
    else:
        with pytest.raises(WarploomError, match=found):
            find_kernel(module, wanted, "names.cu")


ENVIRONMENT = """__global__ void fine(int* p) { *p = 1; }
__global__ void whole_grid(int* p)
{
    unsigned r;
    asm volatile("mov.u32 %0, %%envreg3;" : "=r"(r));
    *p = r;
}
"""
LAUNCHING = """__global__ void fine(int* p) { *p = 1; }
__global__ void parent(int* p)
{
    fine<<<1, 32>>>(p);
}
"""


@pytest.mark.parametrize(
    ("source", "refused", "complaint"),
    [
        (ENVIRONMENT, "whole_grid", r"own.cu:5: %envreg3 is not supported"),
        (LAUNCHING, "parent", r"own.cu:4: .*dynamic parallelism"),
    ],
)
def test_only_the_kernel_that_needs_it_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, refused: str, complaint: str
) -> None:
    module = module_of(tmp_path / "own.cu", source)
    assert compile_kernel(module, find_kernel(module, "fine", "own.cu"), Options()).registers >= 1
    with pytest.raises(WarploomError, match=complaint):
        compile_kernel(module, find_kernel(module, refused, "own.cu"), Options())
    assert run_command(["inspect", str(tmp_path / "own.cu")]) == 2
    shown = capsys.readouterr()
    assert "fine" in shown.out
    assert shown.err.startswith("error: ")
    assert "own.cu:" in shown.err


def test_a_fault_is_at_its_line_of_the_source(tmp_path: Path) -> None:
    from warploom.programs.device import Device

    path = tmp_path / "fault.cu"
    path.write_text(
        "__device__ int pick(int *p)\n{\n    return p[1 << 20];\n}\n\n__global__ void k(int *p)\n{\n    *p = pick(p);\n}\n"
    )
    program = OwnKernel(str(path), (1, 1, 1), (1, 1, 1), arguments=("p=s32[4]:zeros",)).open("ptx")
    with pytest.raises(WarploomError, match=r"fault.cu:3: kernel"):
        program.host(Device(program.ptx, file=program.place, record=None), program.inputs("tiny"))


def test_line_numbers_change_no_instruction() -> None:
    source = ROOT / "src" / "warploom" / "programs" / "workloads" / "hotspot" / "kernel.cu"
    plain, numbered = (
        parse(compile_to_ptx(source.read_text(), "some/kernel.cu", line_numbers=lines), "some/kernel.cu")
        for lines in (False, True)
    )
    assert plain.kernels.keys() == numbered.kernels.keys()
    for kernel in plain.kernels:
        codes = [compile_kernel(module, kernel, Options()) for module in (plain, numbered)]
        assert [str(i) for i in codes[0].instructions()] == [str(i) for i in codes[1].instructions()]
        lines = [i.line for i in codes[1].instructions()]
        assert all(0 <= line <= len(source.read_text().splitlines()) for line in lines)
        assert len(set(lines)) > 5
