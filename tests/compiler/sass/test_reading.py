"""Cubins and their disassembly, read into machine code; and what is said of files that cannot be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.places import DATA
from warploom.base.errors import WarploomError
from warploom.compiler.code.instruction import Bank, Code, Constant, Imm, Modified, Reg, Special
from warploom.compiler.code.liveness import thread_liveness
from warploom.compiler.sass import disassembly
from warploom.compiler.sass.cubin import read_cubin
from warploom.compiler.sass.disassembly import listing
from warploom.compiler.sass.load import load_kernel
from warploom.compiler.sass.module import SassModule, from_cubin, from_cuda, from_ptx
from warploom.compiler.sass.operands import parse_operand
from warploom.compiler.sass.toolchain import disassemble
from warploom.emulator.shape import LaunchShape
from warploom.programs.device import Device
from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import workload_ptx, workload_source

CUBINS = DATA / "h200" / "cubin"
TENSOR = """.version 9.0
.target sm_80
.address_size 64
.visible .entry plain(.param .u64 out) {
.reg .b64 p; .reg .b32 i;
ld.param.u64 p, [out]; mov.u32 i, %tid.x; st.global.u32 [p], i; ret;
}
.visible .entry tensor(.param .u64 out) {
.reg .b64 p; .reg .b32 a, b, c, d, r; .reg .f32 x, y, z, w;
ld.param.u64 p, [out]; ld.global.u32 a, [p];
mov.f32 x, 0f00000000; mov.f32 y, x; mov.f32 z, x; mov.f32 w, x;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {x, y, z, w}, {a, a, a, a}, {a, a}, {x, y, z, w};
st.global.f32 [p], x; ret;
}
"""


def test_reuse_bits_are_those_that_the_text_shows() -> None:
    """nvdisasm writes ``.reuse`` behind operands; we read the bits. Registers in the slots A, B, C come in this order."""
    compared = 0
    for name in ("lbm", "sgemm", "nbody", "dwt2d"):
        module = from_ptx(workload_ptx(name), name, "sm_90")
        data = module.make(None)
        sections = listing(data, name)
        for kernel in module.kernels:
            code = list(module.kernel(kernel).instructions())
            for line, instruction in zip(sections[f".text.{kernel}"].lines, code, strict=False):
                assert instruction.control is not None
                assert sum(instruction.control.reuse) == line.text.count(".reuse"), line.text
                compared += 1
    assert compared > 1000


TWO_KERNELS = """
__device__ __noinline__ float twice(float x) { return x + x; }
extern "C" __global__ void first(float* x) { x[0] = twice(x[1]); }
extern "C" __global__ void second(float* x) { for (int i = 0; i < x[1]; i++) x[0] = twice(x[i]) * x[1]; }
"""


def test_of_a_large_cubin_only_what_is_asked_for_is_disassembled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    data = from_cuda(TWO_KERNELS, "two.cu", "sm_90").make(None)
    whole = from_cubin(data, "two.cu").kernel("second")
    asked: list[int | None] = []

    def counted(cubin: bytes, place: str, symbol: int | None = None) -> str:
        asked.append(symbol)
        return disassemble(cubin, place, symbol)

    monkeypatch.setattr(disassembly, "_AT_ONCE", 0)
    monkeypatch.setattr(disassembly, "disassemble", counted)
    module = from_cubin(data, "two.cu")
    assert (set(module.kernels), asked) == ({"first", "second"}, [])
    apart = module.kernel("second")
    assert list(map(str, apart.instructions())) == list(map(str, whole.instructions()))
    assert [each.line for each in apart.instructions()] == [each.line for each in whole.instructions()]
    assert len(asked) == 1 and None not in asked


@pytest.mark.parametrize("code", ["sm_75", "sm_90"])
def test_instructions_name_the_line_of_the_cuda_source(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a workload, whose PTX has the lines, and for the user's file; what a header does counts for the line that calls it."""
    program = workload_program("matrixmul", code)
    source = workload_source("matrixmul").splitlines()
    module = program.module()
    assert isinstance(module, SassModule)
    made = module.kernel("matrixmul")
    loads = {i.line for i in made.instructions() if i.op.name == "LDG"}
    assert {source[line - 1].strip()[:6] for line in loads} == {"tile_a", "tile_b"}
    assert all(0 < instruction.line <= len(source) for instruction in made.instructions())

    monkeypatch.chdir(tmp_path)
    source = ['#include "square.h"', 'extern "C" __global__ void own(float *x) {', "  x[0] =", "    square(x[1]);", "}"]
    (tmp_path / "square.h").write_text("\n\n\n\n\n\n\n__device__ float square(float x) { return x * x; }\n")
    (tmp_path / "own.cu").write_text("\n".join(source))
    own = from_cuda((tmp_path / "own.cu").read_text(), "own.cu", code).kernel("own")
    assert {i.line for i in own.instructions() if i.op.name == "FMUL"} == {4}


def test_a_kernel_has_what_its_file_says() -> None:
    module = from_cubin((CUBINS / "bitonic_shared.cubin").read_bytes(), "bitonic_shared.cubin")
    code = module.kernel("bitonic_shared")
    assert (module.architecture, code.registers, code.shared_bytes) == ("sm_90", 16, 2048)
    assert [(parameter.offset, parameter.size) for parameter in code.parameters] == [(0, 8)]
    first = next(code.instructions())
    assert str(first) == "LDC R1, c[0x0][0x28]"
    assert first.control is not None and str(first.control) == "------:R-:W-:-:S01"
    assert thread_liveness(code).max_live <= code.registers


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90"])
def test_registers_of_every_workload_are_within_the_allocation(architecture: str) -> None:
    for name in ("hotspot", "mum", "reduction"):
        module = from_ptx(workload_ptx(name), name, architecture)
        for kernel in module.kernels:
            code = module.kernel(kernel)
            used = {word for i in code.instructions() for reg in (*i.dsts, *i.reads) for word in reg.words}
            assert max(used) < code.registers


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_variables_that_begin_with_an_address_hold_it(architecture: str) -> None:
    source = """
    __device__ int numbers[4] = {7, 8, 9, 10};
    __device__ int *third = &numbers[2];
    __constant__ int *second = &numbers[1];
    extern "C" __global__ void read(int *out) { out[threadIdx.x] = threadIdx.x ? *third : *second; }
    """
    module = from_cuda(source, "pointers.cu", architecture)
    device = Device(module, record=None)
    out = device.array(np.zeros(2, np.int32))
    device.launch("read", (1,), (2,), out)
    assert out.get().tolist() == [8, 9]


def test_a_limit_of_registers_is_the_compilers() -> None:
    """Also of a kernel with launch bounds, for which ptxas does not heed its own option."""
    module = from_ptx(workload_ptx("dwt2d"), "dwt2d", "sm_90")
    (kernel,) = module.kernels
    free, tight = module.kernel(kernel), module.kernel(kernel, 40)
    assert tight.registers <= 40 < free.registers
    assert any(i.op.name == "STL" for i in tight.instructions())


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("R4", Reg(4)),
        ("-R4.reuse", Modified(Reg(4), negated=True)),
        ("|R0|.reuse", Modified(Reg(0), absolute=True)),
        ("-|R7|", Modified(Reg(7), negated=True, absolute=True)),
        ("~UR3", Modified(Reg(3, Bank.U), inverted=True)),
        ("!PT", Modified(Reg(0, Bank.PT), inverted=True)),
        ("R9.H1_H1", Modified(Reg(9), part="H1_H1")),
        ("+INF ", Imm(0x7F800000)),
        ("-0.5", Imm(0x7F800000)),
        ("-0x4", Imm(0xFFFFFFFC)),
        ("c[0x0][0x210]", Constant(0, 0x210)),
        ("c[0x3][R8+0x10]", Constant(3, 0x10, Reg(8))),
        ("-c[0x0][0x160]", Modified(Constant(0, 0x160), negated=True)),
        ("{5,4,3,2,1,0}", Special("{5,4,3,2,1,0}")),
    ],
)
def test_operands(text: str, operand: object) -> None:
    """A constant in floating point is taken from the encoding, here 0x7f800000, because its text may lose bits."""
    assert parse_operand(text, 0x7F800000, "here") == operand


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_cut_off_cubin_is_refused_in_one_sentence(data: st.DataObject) -> None:
    whole = (CUBINS / "vecadd.cubin").read_bytes()
    length = data.draw(st.integers(0, len(whole) - 400))
    with pytest.raises(WarploomError) as refused:
        cubin = read_cubin(whole[:length], "vecadd.cubin")
        load_kernel(cubin, listing(whole[:length], "vecadd.cubin"), "vecadd", "vecadd.cubin")
    assert str(refused.value).startswith("vecadd.cubin: ")


def test_other_files_are_refused() -> None:
    data = (CUBINS / "vecadd.cubin").read_bytes()
    with pytest.raises(WarploomError, match=r"vecadd\.cubin: this is machine code for sm_90, not for sm_80"):
        _ = from_cubin(data, "vecadd.cubin", "sm_80").kernels
    with pytest.raises(WarploomError, match="there is no kernel 'vecad'; did you mean 'vecadd'"):
        from_cubin(data, "vecadd.cubin").kernel("vecad")
    with pytest.raises(WarploomError, match="this is not a cubin"):
        from_cubin(b"MZ" + data[2:], "x.cubin")
    with pytest.raises(WarploomError, match="code 'sm_35' is not known; choose ptx, sm_75"):
        from_ptx(workload_ptx("vectoradd"), "x.ptx", "sm_35")
    with pytest.raises(WarploomError, match=r"x\.ptx: ptxas refuses it: .*"):
        _ = from_ptx("this is no PTX", "x.ptx", "sm_90").kernels
    with pytest.raises(WarploomError, match="a cubin is compiled already"):
        from_cubin(data, "vecadd.cubin").kernel("vecadd", 16)


def test_an_unknown_opcode_is_refused_by_name_and_its_neighbours_run() -> None:
    import numpy as np

    module = from_ptx(TENSOR, "tensor.ptx", "sm_90")
    known = module.kernel("tensor")
    for instruction in known.instructions():
        if instruction.op.name == "HMMA":
            instruction.op = instruction.op._replace(name="XYZZY")

    def compile_(kernel: str, _shape: LaunchShape) -> Code:
        return known if kernel == "tensor" else module.kernel(kernel)

    device = Device(compile_, record=None)
    out = device.array(np.zeros(32, np.uint32))
    device.launch("plain", (1,), (32,), out)
    with pytest.raises(WarploomError, match="kernel tensor uses XYZZY, which the emulator does not know"):
        device.launch("tensor", (1,), (32,), out)
