"""Recordings made by hand: steps with right checksums, whatever they say, and code for them to launch."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from warploom.compiler.cuda import compile_to_cubin, compile_to_ptx
from warploom.programs.recording import framed

Steps = list[tuple[Any, bytes]]  # what the JSON of each says, and the data behind it

HEAD = b"warploom recording 1\n"
FIRST, LAST = 0x5000_0000, 0xF000_0000
MACHINE_CODE = "sm_90"
SOURCE = """
#include <cstdio>
__device__ int counter[16];
__constant__ int table[16];
extern "C" {
__global__ void add(int* out, int n) {
    if (threadIdx.x < 64) out[threadIdx.x] += n + table[threadIdx.x & 15];
    atomicAdd(counter, 1);
}
__global__ void reach(int* near, int* far, int* out) {
    int* which = threadIdx.x & 1 ? far : near;
    out[threadIdx.x & 63] = *which;
    *which = 77;
}
__global__ void wide(int4* from, int4* to) { to[threadIdx.x & 3] = from[threadIdx.x & 3]; }
__global__ void turn(int* out, int rounds) {
    for (int i = 0; i < rounds; i++) out[i & 63] += i;
}
__global__ void say(const char* form, const char* word, int n) {
    if (threadIdx.x < 2) printf(form, word, n);
}
typedef cudaTextureObject_t texture;
__global__ void look(texture line, texture area, texture space, float* out, float x, float y) {
    out[threadIdx.x & 15] = tex1Dfetch<float>(line, (int)x) + tex2D<float>(area, x, y) + tex3D<float>(space, x, y, x);
}
__global__ void layers(texture layered, float* out, float x, int layer) {
    out[threadIdx.x & 15] = tex2DLayered<float>(layered, x, x, layer);
}
__global__ void put(cudaSurfaceObject_t surface, int x, int y, int* out) {
    surf2Dwrite<int>(y, surface, x, y, cudaBoundaryModeClamp);
    surf2Dwrite<int4>(make_int4(x, x, x, x), surface, x & ~15, y, cudaBoundaryModeZero);
    int4 found;
    surf2Dread(&found, surface, x & ~15, y, cudaBoundaryModeClamp);
    out[threadIdx.x & 15] = found.x + found.w;
}
__global__ void put_deep(cudaSurfaceObject_t surface, int x, int y, int z) {
    surf3Dwrite<short>((short)x, surface, x & ~1, y, z, cudaBoundaryModeTrap);
}
}
"""
PARAMETERS = {  # of each kernel: P a pointer, I an int, F a float, T a texture or surface
    "add": "PI",
    "reach": "PPP",
    "wide": "PP",
    "turn": "PI",
    "say": "PPI",
    "look": "TTTPFF",
    "layers": "TPFI",
    "put": "TIIP",
    "put_deep": "TIII",
}
_FORMS = {"P": "Q", "T": "Q", "I": "i", "F": "f"}


def compiled() -> bytes:
    """A fat binary with the kernels as PTX and as machine code."""
    text = compile_to_ptx(SOURCE, "recorded.cu").encode() + b"\0"
    return fat_binary((text, 75), (compile_to_cubin(SOURCE, "recorded.cu", arch=MACHINE_CODE), 90))


def fat_binary(*files: tuple[bytes, int], flags: int = 0, unpacked: int = 0) -> bytes:
    """A container of files with their architectures; with flags they count as packed."""
    entries = b""
    for data, architecture in files:
        kind = 2 if data.startswith(b"\x7fELF") else 1
        padded = data.ljust(-(-len(data) // 8) * 8, b"\0")
        packed = len(data) if flags else 0
        about = (kind, 0x101, 64, len(padded), packed, 0, 0, 0, architecture, 0, 0, flags, 0, unpacked)
        entries += struct.pack("<HHIQIIHHIIIQQQ", *about) + padded
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries


def pack_parameters(kernel: str, values: list[Any]) -> bytes:
    """The parameters of a launch as bytes, each where C has it."""
    return struct.pack("@" + "".join(_FORMS[letter] for letter in PARAMETERS[kernel]), *values)


def line(address: int, size: int) -> list[int]:
    """A block that is one row."""
    return [address, size, size, size, 1, 1]


def step(what: str, data: bytes = b"", **about: Any) -> tuple[dict[str, Any], bytes]:
    """A step, its data as it is."""
    return {**about, "do": what, **({"size": len(data)} if data else {})}, data


def launch(number: int, kernel: str, values: list[Any], threads: int = 32, blocks: int = 1) -> tuple[dict[str, Any], bytes]:
    """A launch of a kernel of a number."""
    shape = {"grid": [blocks, 1, 1], "block": [threads, 1, 1], "dynamic": 0, "cooperative": 0}
    return step("launch", pack_parameters(kernel, values), kernel=number, **shape)


def beginning(code: bytes, *, lenient: bool = False, kernels: tuple[str, ...] = tuple(PARAMETERS)) -> Steps:
    """The steps before the first launch: a module and its kernels."""
    found = [step("kernel", number=number, module=0, name=name) for number, name in enumerate(kernels)]
    return [step("begin", program="by hand", lenient=lenient), step("module", code, number=0), *found]


def encoded(steps: Steps) -> bytes:
    """The steps as a file, with right checksums; what is text already stays as it is."""
    texts = ((about if isinstance(about, bytes) else json.dumps(about).encode(), data) for about, data in steps)
    return HEAD + b"".join(framed(text, data) for text, data in texts)


def write(path: Path, steps: Steps) -> str:
    """Write a recording; its name."""
    path.write_bytes(encoded(steps))
    return str(path)
