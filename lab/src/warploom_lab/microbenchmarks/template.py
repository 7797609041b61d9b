"""A kernel with a region between two readings of the clock: its instructions are ours, the rest is ptxas's.

The kernel loads 48 registers and waits for them, then runs the region ``reps`` times, and stores for every warp the two
readings of the clock, the SM, and the 48 registers. The clock is read around the last time, after a barrier, which shows what
one warp does; or, where ``whole`` is asked for, around all times together, which shows what the warps of an SM do together.
(Around the last time alone it would not: a warp goes on after BAR.SYNC.DEFER_BLOCKING while others are behind it.) ptxas keeps
instructions between the readings in order and moves none out, which the builder checks. Around all times together the loop's own
three are among them, so that a region with branches, or one that writes the loop's guard P0, is refused there.

Where only the warps of some ``cores`` are to run, the others leave before the region, and nobody waits at a barrier.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Sequence

from warploom.base.errors import WarploomError
from warploom.compiler.sass.disassembly import Line, listing
from warploom.compiler.sass.toolchain import assemble
from warploom_lab.microbenchmarks.encoding import RZ, UNIFORM, WrittenInstruction

ARCHITECTURE = "sm_90"
VALUES = 48
LEAST = 96  # instructions of a region; from here on ptxas gives the values the same registers whatever the length
WORDS_PER_WARP = 64  # took, SM, first clock (64 bits), second clock (64 bits), two free, then the values
KERNEL = "bench"
SUB_CORES = 4


def template_ptx(
    body: Sequence[str], before: str = "", after: str = "", shared_bytes: int = 4, whole: bool = False, cores: int = SUB_CORES
) -> str:
    """The kernel in PTX. The body may use %v0 to %v47 (32 bits), %x0 to %x3 (64 bits; %x0 is the second argument's address)."""
    loads = "\n".join(f"ld.global.b32 %v{i}, [%in+{128 * i}];" for i in range(VALUES))
    stores = "\n".join(f"st.global.b32 [%to+{32 + 4 * i}], %v{i};" for i in range(VALUES))
    use = "\n".join(f"xor.b32 %s0, %s0, %v{i};" for i in range(VALUES))
    begin = "bar.sync 0;\nmov.u64 %t0, %clock64;"
    if cores < SUB_CORES:
        begin = f"bfe.u32 %s1, %thread, 5, 2; setp.ge.u32 %q0, %s1, {cores}; @%q0 bra DONE;\nmov.u64 %t0, %clock64;"
    first, again = (begin, "") if whole else ("", begin)
    last, end = ("", "mov.u64 %t1, %clock64;") if whole else ("mov.u64 %t1, %clock64;", "")
    return f""".version 8.0
.target {ARCHITECTURE}
.address_size 64
.visible .entry {KERNEL}(.param .u64 out, .param .u64 in, .param .u32 reps, .param .u64 memory)
{{
.reg .b32 %v<{VALUES}>, %took, %n, %thread, %warp, %lane, %sm, %cta, %size, %s0, %s1, %s2;
.reg .b64 %in, %to, %at, %t0, %t1, %x<4>; .reg .f64 %y<16>; .reg .pred %p, %q<4>;
.shared .align 16 .b8 shared_area[{shared_bytes}];
ld.param.u64 %in, [in]; cvta.to.global.u64 %in, %in;
ld.param.u64 %x0, [memory]; cvta.to.global.u64 %x0, %x0;
mov.u32 %thread, %tid.x; and.b32 %lane, %thread, 31;
mul.wide.u32 %at, %lane, 4; add.u64 %in, %in, %at;
{loads}
ld.param.u32 %n, [reps];
mov.u32 %s0, 0;
{use}
setp.eq.u32 %p, %s0, 0x13579bdf; @%p st.global.b32 [%in], %s0;
{before}
{first}
AGAIN:
{again}
{chr(10).join(body)}
{last}
sub.u32 %n, %n, 1;
setp.ne.u32 %p, %n, 0;
@%p bra AGAIN;
{end}
{after}
sub.u64 %x1, %t1, %t0; cvt.u32.u64 %took, %x1;
mov.u32 %cta, %ctaid.x; mov.u32 %size, %ntid.x; mov.u32 %sm, %smid;
mad.lo.u32 %warp, %cta, %size, %thread; shr.u32 %warp, %warp, 5;
ld.param.u64 %to, [out]; cvta.to.global.u64 %to, %to;
mul.wide.u32 %at, %warp, {4 * WORDS_PER_WARP}; add.u64 %to, %to, %at;
setp.ne.u32 %p, %lane, 0; @%p bra DONE;
st.global.b32 [%to], %took; st.global.b32 [%to+4], %sm; st.global.b64 [%to+8], %t0; st.global.b64 [%to+16], %t1;
{stores}
DONE:
ret;
}}
"""


@functools.lru_cache(maxsize=8)
def _section(cubin: bytes, place: str) -> list[Line]:
    return listing(cubin, place)[f".text.{KERNEL}"].lines


def between_clocks(cubin: bytes, place: str) -> list[Line]:
    """The instructions between the two readings of the clock."""
    lines = _section(cubin, place)
    clocks = [number for number, line in enumerate(lines) if "SR_CLOCKLO" in line.text]
    if len(clocks) != 2:
        raise WarploomError(f"{place}: {len(clocks)} readings of the clock instead of two; look at its machine code.")
    return lines[clocks[0] + 1 : clocks[1]]


def from_ptx_body(
    body: Sequence[str], place: str, *, before: str = "", after: str = "", shared_bytes: int = 4, whole: bool = False,
    cores: int = SUB_CORES,
) -> bytes:  # fmt: skip
    """A cubin whose region is what ptxas makes of PTX instructions."""
    return assemble(template_ptx(body, before, after, shared_bytes, whole, cores), place, ARCHITECTURE)


@functools.lru_cache(maxsize=64)
def placeholder(slots: int, whole: bool = False, cores: int = SUB_CORES) -> tuple[bytes, tuple[int, ...], tuple[int, ...], int]:
    """A cubin with a region of so many instructions.

    With it where in the file each of them is, the registers of %v0 to %v47, and the region's address in the kernel.
    """
    if slots < LEAST:
        raise WarploomError(f"a region of {slots} instructions is too short; {LEAST} is the least.")
    place = f"placeholder of {slots}"
    body = [f"fma.rn.f32 %v{i % VALUES}, %v{i % VALUES}, %v{i % VALUES}, %v{i % VALUES};" for i in range(slots)]
    cubin = from_ptx_body(body, place, whole=whole, cores=cores)
    region = [line for line in between_clocks(cubin, place) if line.text.startswith("FFMA ")]
    others = len(between_clocks(cubin, place)) - len(region)
    if len(region) != slots or (others and not whole):
        raise WarploomError(f"{place}: ptxas made {len(region)} instructions and {others} others of it.")
    code = b"".join(struct.pack("<QQ", line.low, line.high) for line in _section(cubin, place))
    start = cubin.find(code)
    if start < 0:
        raise WarploomError(f"{place}: the disassembled code is not in the cubin.")
    registers = tuple(int(line.text.split()[1].rstrip(",")[1:]) for line in region[:VALUES])
    return cubin, tuple(start + line.address for line in region), registers, region[0].address


@functools.cache
def usable_registers() -> tuple[int, ...]:
    """The registers that hold values in every kernel, in order."""
    return tuple(sorted(set(placeholder(LEAST)[2]) & set(placeholder(LEAST, whole=True)[2])))


@functools.cache
def stored_registers(slots: int) -> dict[int, int]:
    """The registers whose contents at the end of a region of so many instructions are stored, each with the value that it is."""
    cubin, _, registers, _ = placeholder(slots)
    found = {}
    for line in _section(cubin, f"placeholder of {slots}"):
        store = re.fullmatch(r"STG\.E desc\[UR\d+\]\[R\d+\.64\+(0x[0-9a-f]+)\], R(\d+)", line.text)
        if store and int(store[2]) in registers and (number := (int(store[1], 16) - 32) // 4) >= 0:
            found[int(store[2])] = number
    return found


def from_instructions(code: Sequence[WrittenInstruction], place: str, whole: bool = False, cores: int = SUB_CORES) -> bytes:
    """A cubin whose region is exactly these instructions; they may use the registers of the 48 values and no others."""
    cubin, places, registers, _ = placeholder(len(code), whole, cores)
    for one in code:
        used = {one.d, one.a, one.b, one.c} - {RZ}
        if one.operation not in UNIFORM and not used <= set(registers):
            raise WarploomError(f"{place}: {one} uses a register other than {sorted(registers)}.")
    if whole and any(one.target or one.operation == "ISETP" for one in code):
        raise WarploomError(f"{place}: branches and guards need a region that is measured for one warp.")
    patched = bytearray(cubin)
    for at, one in zip(places, code, strict=True):
        struct.pack_into("<QQ", patched, at, *one.words())
    return bytes(patched)
