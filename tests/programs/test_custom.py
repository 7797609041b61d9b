"""Kernels of a user's own file: how they are named, where errors are, and which of them are refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.places import ROOT
from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.cuda import compile_to_ptx
from warploom.compiler.ptx import parse
from warploom.programs.custom import find_kernel, kernel_titles
from warploom.programs.own_kernel import OwnKernel
from warploom.programs.source import PTX, Source

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


def module_of(path: Path, source: str) -> Any:
    path.write_text(source)
    return Source.of_file(str(path)).kernels(PTX)


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
        program.host(Device(program.module(), file=program.place, record=None), program.inputs("tiny"))


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


TEMPLATE = """
#include <cstdio>
template <int width, bool twice = false> __global__ void rowdot(const float *a, float *out)
{
    float sum = 0;
    for (int i = 0; i < width; i++) sum += a[threadIdx.x * width + i];
    out[threadIdx.x] = twice ? 2 * sum : sum;
}
int main() { rowdot<16><<<1, 32>>>(nullptr, nullptr); printf("done"); }
"""
ROWS = ["--grid", "1", "--block", "32", "--arg", "a=f32[512]:ones", "--arg", "out=f32[32]"]


@pytest.mark.compiled
@pytest.mark.parametrize("code", ["ptx", "sm_90"])
def test_an_instance_that_main_alone_asks_for_is_made_and_runs_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], code: str
) -> None:
    path, out = tmp_path / "rows.cu", tmp_path / "out.npy"
    path.write_text(TEMPLATE)
    wanted = ["--kernel", "rowdot<4 * 2, true>", "--code", code, "--emulate-only", "--save", f"out={out}"]
    assert run_command(["run", str(path), *wanted, *ROWS]) == 0
    assert set(np.load(out)) == {16.0}
    capsys.readouterr()
    assert run_command(["run", str(path), "--kernel", "rowdot<16>", "--code", code, *ROWS, "--json"]) == 0
    (tmp_path / "result.json").write_text(capsys.readouterr().out)
    assert run_command(["run", "--from", str(tmp_path / "result.json")]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["inspect"], "name one, such as --kernel 'rowdot<16>'"),
        (["inspect", "--kernel", "rowdot"], "name one, such as --kernel 'rowdot<16>'"),
        (["inspect", "--kernel", "rowdt<16>"], "did you mean 'rowdot<16>'?"),
        (["inspect", "--kernel", "rowdot<width>"], 'identifier "width" is undefined'),
    ],
)
def test_a_template_without_an_instance_says_how_to_name_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], complaint: str
) -> None:
    path = tmp_path / "rows.cu"
    path.write_text(TEMPLATE)
    assert run_command([command[0], str(path), *command[1:]]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1


def test_inspect_shows_the_instance_under_its_name_in_the_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.cu"
    path.write_text(TEMPLATE)
    assert run_command(["inspect", str(path), "--kernel", "rowdot<2>"]) == 0
    assert capsys.readouterr().out.startswith("rowdot<2, false>  ")
