"""Kernels: PTX and CUDA C++ up to machine code, and launches of a good kernel with odd grids and arguments."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import warploom
from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.compiler.cuda import compile_to_ptx
from warploom.compiler.ptx import parse
from warploom.compiler.ptx.opcodes import TABLE
from warploom.designs import parse_design
from warploom.programs.custom import parse_extent
from warploom.programs.own_kernel import OwnKernel
from warploom.runs.compilation import compile_for
from warploom.runs.simulate import emulate
from warploom_lab.fuzz.kinds import Kind, Wrong
from warploom_lab.fuzz.mutations import ODD_WORDS, spoilt_number, spoilt_text, tokens

WORKLOADS = Path(warploom.__file__).parent / "programs" / "workloads"
DESIGNS = ("baseline", "rfv", "regmutex", "rfc", "baseline + max_registers=16")
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry scale (.param .u64 out, .param .u64 in, .param .f32 factor, .param .u32 n)
{ .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.f32 %f1, [factor]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1; @%p1 bra end;
  mul.wide.u32 %d3, %r5, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
  ld.global.f32 %f2, [%d5]; mul.f32 %f3, %f2, %f1; st.global.f32 [%d4], %f3;
end: ret; }
"""


def samples(name: str, count: int) -> list[str]:
    """The smallest files of workloads: a spoilt one is read in milliseconds."""
    files = sorted(WORKLOADS.glob(f"*/{name}"), key=lambda file: (file.stat().st_size, file))
    return [file.read_text(encoding="utf-8") for file in files[:count]]


class Ptx(Kind):
    """A PTX file, compiled under some design."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.samples = [KERNEL, *samples("kernel.ptx", 10)]
        self.words = sorted({word for text in self.samples for word in tokens(text)} | set(TABLE) | set(ODD_WORDS))
        self.designs = [parse_design(text) for text in DESIGNS]
        self.machine = load_machine("gtx480")

    def make(self, random: Random) -> tuple[int, str]:
        return random.randrange(len(self.designs)), spoilt_text(random.choice(self.samples), self.words, random)

    def attempt(self, spoilt: tuple[int, str]) -> None:
        design, text = self.designs[spoilt[0]], spoilt[1]
        try:
            module = parse(text, "spoilt.ptx")
            for name in module.kernels:
                compile_for(module, name, design, self.machine)
        except WarploomError as error:
            if not str(error).startswith(("spoilt.ptx", "kernel ", "design ")):
                raise Wrong(f"an error about PTX does not begin with its place\n{error}") from error
            raise

    def shown(self, spoilt: tuple[int, str]) -> bytes:
        return super().shown(spoilt[1])


class Cuda(Kind):
    """A CUDA C++ file, as far as the parsed PTX of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.samples = samples("kernel.cu", 12)
        self.words = sorted({word for text in self.samples for word in tokens(text)} | set(ODD_WORDS))

    def make(self, random: Random) -> str:
        return spoilt_text(random.choice(self.samples), self.words, random)

    def attempt(self, spoilt: str) -> None:
        parse(compile_to_ptx(spoilt, "spoilt.cu"), "spoilt.cu")


class KernelLaunch(Kind):
    """Grid, block, shared memory and arguments of a good kernel, which is then executed."""

    GOOD = ("8", "32", "0", "out=f32[256]", "in=f32[256]:random", "factor=2.5", "n=256")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "kernel.ptx"
        self.path.write_text(KERNEL)
        self.attempt(self.GOOD)  # compiles the emulator, which is no input's fault
        self.words = [word for text in (*self.GOOD, "u8 s64 ones iota 64,2 x") for word in tokens(text)] + list(ODD_WORDS)

    def make(self, random: Random) -> tuple[str, ...]:
        given = list(self.GOOD)
        for _ in range(random.randint(1, 2)):
            place = random.randrange(len(given))
            if random.random() < 0.5:
                given[place] = spoilt_text(given[place], self.words, random)
            else:
                parts = tokens(given[place])
                at = random.randrange(len(parts)) if parts else 0
                given[place] = "".join([*parts[:at], spoilt_number(parts[at] if parts else "1", random), *parts[at + 1 :]])
        if random.random() < 0.1:
            del given[random.randrange(3, len(given))]
        return tuple(given)

    def attempt(self, spoilt: tuple[str, ...]) -> None:
        grid, block, shared, *arguments = spoilt
        extents: Any = parse_extent(grid, "grid"), parse_extent(block, "block")
        if extents[0][0] * extents[0][1] * extents[0][2] > 1 << 16:
            return  # a large grid may run for hours and is right to
        own = OwnKernel(
            str(self.path),
            grid=extents[0],
            block=extents[1],
            arguments=tuple(arguments),
            shared_bytes=int(shared) if shared.isdecimal() and shared.isascii() and len(shared) < 20 else 0,
        )
        emulate(own.open("ptx"))
