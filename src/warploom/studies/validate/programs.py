"""Measured kernels as programs that the simulator runs: kernels described in JSON beside their cubins, and microbenchmarks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.compiler.sass.fatbin import read_image
from warploom.programs.program import Program
from warploom.programs.source import Source
from warploom.programs.workloads.workload import Arrays, Gpu
from warploom.studies.validate.benchmark import Launch
from warploom.studies.validate.expressions import elements

CODE = "sm_90"
_TYPES = {
    "f32": np.float32, "f64": np.float64, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
    "u8": np.uint8, "u16": np.uint16,
}  # fmt: skip
_LARGEST = 2 << 30  # bytes of an array
_REPS = 2  # the place of the template's argument that says how often its region runs


def described_program(folder: Path, name: str) -> Program:
    """A kernel of a folder with ``NAME.cubin`` or ``NAME.cu`` and ``NAME.json``: its launch, and its arguments before it."""
    compiled, text = folder / f"{name}.cubin", folder / f"{name}.cu"
    try:
        about = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        source = Source.of_file(str(compiled if compiled.is_file() else text))
    except (OSError, ValueError, RecursionError) as problem:
        raise WarploomError(f"{folder / name}: the kernel cannot be read: {problem}") from None
    for key in ("kernel", "grid", "block", "args"):
        if key not in about:
            raise WarploomError(f"{folder / name}.json: {key!r} is missing.")

    def host(gpu: Gpu, _arrays: Arrays) -> Arrays:
        passed = [_described(gpu, argument) for argument in about["args"]]
        shape = tuple(about["grid"]), tuple(about["block"])
        gpu.launch(about["kernel"], *shape, *passed, shared_bytes=about.get("shared_bytes", 0))
        return {}

    return _program(name, host, source)


def _described(gpu: Gpu, argument: dict[str, Any]) -> Any:
    """An argument of a kernel described in JSON, on the device."""
    value = initial_value(argument)
    if "texture" in argument:
        return gpu.texture(value.reshape(argument["texture"]["shape"]), linear=argument["texture"]["linear"])
    return gpu.array(value) if value.ndim else value


def initial_value(argument: dict[str, Any]) -> Any:
    """An argument before the launch, an array or a number: an expression of ``i``, the element's number."""
    try:
        base, _, size = argument["type"].rstrip("]").partition("[")
        kind = np.dtype(_TYPES[base])
        if int(size or 0) * kind.itemsize > _LARGEST:
            raise ValueError("an array has at most 2 GiB")
        i = np.arange(int(size), dtype=np.int64) if size else np.int64(0)
        return np.broadcast_to(np.asarray(elements(argument["init"], i)), i.shape).astype(kind)[()]
    except Exception as problem:  # an expression can fail in any way
        raise WarploomError(
            f"an argument {argument!r} needs a 'type' such as f32[1024] ({', '.join(_TYPES)}) and an 'init' in i: {problem}"
        ) from None


def microbenchmark_program(launch: Launch, reps: int | None) -> Program:
    """A launch of a microbenchmark; ``reps`` is how often the template's region runs, if not as often as the launch says."""

    def host(gpu: Gpu, _arrays: Arrays) -> Arrays:
        passed = [_passed(gpu, kind, value) for kind, value in launch.arguments]
        if reps is not None:
            passed[_REPS] = np.uint32(reps)
        gpu.launch(launch.kernel, (launch.grid,), (launch.block,), *passed, shared_bytes=launch.shared_bytes)
        return {}

    place = f"{launch.name}.cubin"
    return _program(launch.name, host, Source(place, images=tuple(read_image(launch.cubin, place))))


def _passed(gpu: Gpu, kind: str, value: Any) -> Any:
    """One argument of a microbenchmark's launch, as `lab/src/warploom_lab/gpu/measure.py` makes it on a GPU."""
    if kind == "u32":
        return np.uint32(value)
    if kind == "u64":
        return np.uint64(value)
    if kind == "out":
        return gpu.array(np.zeros(value, np.uint32))
    if kind == "words":
        return gpu.array(np.array(value, np.uint32))
    if kind in ("zeros", "memory"):
        return gpu.array(np.zeros(value, np.uint8))
    if kind == "random":
        return gpu.array(np.arange(value // 4, dtype=np.uint32) * np.uint32(2654435761))
    if kind == "texture":
        return gpu.texture(np.zeros(value["shape"], np.float32), linear=value["linear"])
    if kind == "chase":
        return _chase(gpu, value["bytes"], value["stride"], value["random"])
    raise WarploomError(f"an argument of a microbenchmark cannot be a {kind!r}")


def _chase(gpu: Gpu, size: int, stride: int, random: bool) -> Any:
    """Memory in which every stride holds the address of the next to visit."""
    count = size // stride
    order = np.random.default_rng(1).permutation(count) if random else np.arange(count)
    words = np.zeros(size // 8, np.uint64)
    array: Any = gpu.array(words)
    follows = np.empty(count, np.uint64)
    follows[order] = np.roll(order, -1).astype(np.uint64)
    words[:: stride // 8] = follows * np.uint64(stride) + np.uint64(array.address)
    array.set(words)
    return array


def _program(name: str, host: Any, source: Source) -> Program:
    return Program(name, source, lambda _size: {}, host, sized=False, code=CODE)


def launches_named(launches: Sequence[Launch]) -> dict[str, Launch]:
    """Launches by name."""
    return {launch.name: launch for launch in launches}
