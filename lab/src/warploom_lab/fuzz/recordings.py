"""Recordings whose checksums are right: steps that were spoilt, put in another order, made up, or that unpack to too much."""

from __future__ import annotations

import copy
import json
import struct
import zlib
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.compiler.backend import Options
from warploom.compiler.code.instruction import Code
from warploom.emulator.shape import LaunchShape
from warploom.programs import modules as programs_modules
from warploom.programs import source
from warploom.programs.device import Device, usual_compiler
from warploom.programs.modules import ProgramModules
from warploom.programs.program import compare_outputs
from warploom.programs.replay import recorded_program
from warploom_lab.fuzz.guarded import GuardedMemory
from warploom_lab.fuzz.kinds import Kind, Wrong
from warploom_lab.fuzz.mutations import ODD_WORDS
from warploom_lab.fuzz.recorded_steps import (
    FIRST,
    HEAD,
    LAST,
    MACHINE_CODE,
    PARAMETERS,
    Steps,
    beginning,
    compiled,
    encoded,
    fat_binary,
    launch,
    line,
)
from warploom_lab.fuzz.recorded_steps import step as made

BUDGET = 2000  # warp instructions of a launch
KERNELS = tuple(PARAMETERS)
HANDLES = {"look": [1, 2, 3], "layers": [4], "put": [5], "put_deep": [6]}  # of textures and surfaces that fit
READERS = ((programs_modules, "parse"), (source, "parse"), (source, "from_cubin"))  # text that was read is not read again
IN_MACHINE_CODE = ("put", "put_deep")  # alone: our own backend has no surfaces
NUMBERS = (
    *(-1, 0, 1, 2, 3, 4, 7, 16, 31, 32, 33, 63, 64, 255, 256, 1023, 1024, 1025, 4095, 4096, 65535, 65536),
    *(1 << 20, 1 << 27, (1 << 28) - 1, 1 << 28, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, 1 << 62),
    *((1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, 1 << 70, -(1 << 31), -(1 << 63), -(1 << 70), 10**400),
    *(FIRST - 1, FIRST, LAST - 1, LAST, LAST - 4096, FIRST + (1 << 63), (1 << 63) - 4, (1 << 64) - 4, (1 << 64) - 16),
)
VALUES: tuple[Any, ...] = (None, True, False, [], {}, "", "add", 0.5, 1e308, float("nan"), [[[[]]]], {"do": "end"}, *ODD_WORDS)
TABLES = FIRST + (1 << 16)  # where the module's variables lie in good ones
PIECES = (64, 256, 4096, 5000)
FORMS = (
    *(b"%d %s\n\0", b"%1000000000d%.2000000000f\0", b"%*d%.*f\0", b"%s%s%s%s\0", b"%.5s|%hhd|%lld|%a|%p|%c\0", b"%\0", b"xxxx"),
    *(b"%99999999999999999999d\0", b"%.99999999999999999999s\0", b"%n%n%L%%%-0+ #99.99Lg\0"),
)


def good_steps(code: bytes, random: Random, code_name: str) -> Steps:
    """A recording that is fine: two allocations, variables, copies of all kinds, launches, and what was read back."""
    first, second = FIRST, FIRST + 8192
    steps = beginning(code, lenient=random.random() < 0.3)
    steps += [made("allocate", address=place, bytes=4096, kind=0) for place in (first, second)]
    steps.append(made("variables", module=0, places={"counter": [TABLES, 64], "table": [TABLES + 256, 64]}))
    values = np.arange(1024, dtype=np.int32).tobytes()
    steps.append(made("write", values, block=line(first, 4096)))
    steps.append(({"do": "write", "block": line(second, 4096), "size": 4096, "packed": True}, zlib.compress(bytes(4096), 1)))
    steps.append(made("fill", block=[second, 64, 1024, 16, 8, 2], byte=3))
    steps.append(made("copy", to=[second + 2048, 32, 32, 16, 4, 1], origin=[first, 64, 64, 16, 4, 1]))
    steps.append(made("write", random.choice(FORMS[:5]), block=line(first + 2048, len(FORMS[0]))))
    steps[-1][0]["block"] = line(first + 2048, steps[-1][0]["size"])
    steps += [made("texture", handle=1, words=[first, 64, 0, 0, 256, 32, 2, 1])]
    steps += [made("texture", handle=2, words=[first, 16, 8, 0, 64, 32, 2, 1 | random.choice((0, 16)) | random.choice((0, 64))])]
    steps += [made("texture", handle=3, words=[second, 8, 4, 4, 32, 32, 2, random.choice((0, 1, 3))])]
    steps += [made("texture", handle=4, words=[second, 8, 4, 4, 32, 32, 2, 1 | 1 << 7])]
    steps += [made("texture", handle=5, words=[first + 3072, 16, 8, 0, 64, 32, 1, 1])]
    steps += [made("texture", handle=6, words=[second + 3072, 16, 4, 4, 32, 16, 0, 1])]
    steps += [some_launch(random, [first, second], code_name) for _ in range(random.randint(1, 3))]
    steps.append(made("read", values[1024:1280], block=line(first + 1024, 256)))
    steps += [made("free", address=second), made("end", how="ended with exit code 0")]
    return steps


def some_launch(random: Random, places: list[int], code_name: str, odd: float = 0.0) -> tuple[dict[str, Any], bytes]:
    """A launch of some kernel with pointers among the places, or, with that chance for each parameter, anything."""
    usable = KERNELS if code_name == MACHINE_CODE else [name for name in KERNELS if name not in IN_MACHINE_CODE]
    number = KERNELS.index(random.choice(usable))
    handles = iter(HANDLES.get(KERNELS[number], ()))
    values: list[Any] = []
    for letter in PARAMETERS[KERNELS[number]]:
        strange = random.random() < odd
        if letter == "P":
            near = random.choice(places) + random.choice((0, 0, 16, 64, 2048, 2048))
            values.append((random.choice(NUMBERS) if strange else near) % (1 << 64))
        elif letter == "T":
            handle = next(handles)
            values.append(random.choice((*range(1, 9), *range(1, 9), *NUMBERS[:6])) % (1 << 64) if strange else handle)
        elif letter == "I":
            values.append(
                (random.choice(NUMBERS) + (1 << 31)) % (1 << 32) - (1 << 31) if strange else random.choice((0, 1, 4, 12))
            )
        else:
            values.append(random.choice((float("nan"), float("inf"), -1e30, 1e9)) if strange else random.uniform(-1, 20))
    return launch(number, KERNELS[number], values, random.choice((1, 32, 32, 64)), random.choice((1, 1, 2)))


def spoilt_value(value: Any, random: Random) -> Any:
    """Something else in the place of a value of JSON, or of one that lies in it."""
    if isinstance(value, list) and value and random.random() < 0.8:
        changed = list(value)
        place = random.randrange(len(changed))
        match random.randrange(8):
            case 0:
                del changed[place]
            case 1:
                changed.insert(place, random.choice(NUMBERS))
            case _:
                changed[place] = spoilt_value(changed[place], random)
        return changed
    if isinstance(value, dict) and value and random.random() < 0.8:
        name = random.choice(list(value))
        return {**value, random.choice((name, "other", "")): spoilt_value(value[name], random)}
    if type(value) is int and random.random() < 0.8:
        near = (value - 1, value + 1, value - 4, value + 4, value + 16, value * 2, -value, value << 20, value // 2, value + 4096)
        return random.choice((*near, *NUMBERS))
    return random.choice((*VALUES, random.choice(NUMBERS)))


class _Recording(Kind):
    """A recording and the code that is executed of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "spoilt.wlr"
        self.code = compiled()
        self.codes: dict[Any, Code] = {}
        self.compile = usual_compiler(Options())
        for module, name in READERS:
            whole = getattr(module, name)
            if not hasattr(whole, "cache_info"):
                setattr(module, name, lru_cache(64)(whole))
        for code_name in ("ptx", MACHINE_CODE):  # compiles the emulator, which is no input's fault
            self.attempt((code_name, encoded(good_steps(self.code, Random(0), code_name))))

    def make(self, random: Random) -> tuple[str, bytes]:
        code_name = random.choice(("ptx", MACHINE_CODE))
        return code_name, self.file(random, code_name)

    def file(self, random: Random, code_name: str) -> bytes:
        """The bytes of a recording that is executed as PTX or as machine code."""
        raise NotImplementedError

    def shown(self, spoilt: tuple[str, bytes]) -> bytes:
        return spoilt[1]

    def attempt(self, spoilt: tuple[str, bytes]) -> None:
        """Replay it, as ``run --emulate-only`` does, in memory that tells when it is left."""
        code, data = spoilt
        self.path.write_bytes(data)
        try:
            program = recorded_program(str(self.path), code)
            memory = GuardedMemory(lenient=program.lenient)
            try:
                device = Device(
                    program.module(),
                    code=code,
                    compile_module=self._compiled,
                    record=None,
                    budget=BUDGET,
                    memory=memory,
                    say=_swallow,
                )
                outputs = program.host(device, {})
                memory.check_the_rest()
            finally:
                memory.close()
            assert program.reference is not None
            expected = program.reference({})
            if compare_outputs(outputs, expected, {}, program.name) is None and not program.doubt:
                check_verified(data)
        except WarploomError as problem:
            if not str(problem).startswith(str(self.path)):
                raise Wrong(f"an error about a recording does not begin with its file\n{problem}") from problem
            raise

    def _compiled(self, module: Any, kernel: str, shape: LaunchShape) -> Code:
        assert isinstance(module, ProgramModules)
        texts = tuple(entry.data for each in module.modules for entry in each.source.images)
        key = (module.code, kernel, shape.threads, shape.dynamic_shared_bytes, texts)
        if key not in self.codes:
            if len(self.codes) > 500:
                self.codes.clear()
            self.codes[key] = self.compile(module, kernel, shape)
        return self.codes[key]


def _swallow(_text: str) -> None:
    """What kernels print is of no interest."""


def check_verified(data: bytes) -> None:
    """What counts as verified has an end, and something that was compared; found out from the file alone."""
    at, steps = len(HEAD), []
    while at + 20 <= len(data):
        text, more = struct.unpack_from("<IQ", data, at)
        steps.append(json.loads(data[at + 20 : at + 20 + text]))
        at += 20 + text + more
    if steps[-1]["do"] != "end" or not any(step["do"] == "read" and step.get("size") for step in steps):
        raise Wrong("a recording that was cut off, or in which nothing was compared, counts as verified")


class SpoiltFields(_Recording):
    """Fields with other numbers, other types, missing or too many."""

    def file(self, random: Random, code_name: str) -> bytes:
        steps = good_steps(self.code, random, code_name)
        for _ in range(random.randint(1, 3)):
            place = random.randrange(len(steps))
            about, data = steps[place]
            changed = copy.deepcopy(about)
            field = random.choice([*changed, "size", "same", "packed"])
            match random.randrange(10):
                case 0:
                    changed.pop(field, None)
                case 1:
                    changed[random.choice(("colour", "", "do", "number"))] = random.choice(VALUES)
                case _:
                    changed[field] = spoilt_value(changed.get(field, 0), random)
            steps[place] = changed, data
        return encoded(steps)


class SpoiltOrder(_Recording):
    """Steps left out, said twice, exchanged, of a kind that nobody knows, and very many of them."""

    def file(self, random: Random, code_name: str) -> bytes:
        steps = good_steps(self.code, random, code_name)
        for _ in range(random.randint(1, 4)):
            place, other = random.randrange(len(steps)), random.randrange(len(steps))
            match random.randrange(8):
                case 0 if len(steps) > 1:
                    del steps[place]
                case 1:
                    steps.insert(other, steps[place])
                case 2 | 3:
                    steps[place], steps[other] = steps[other], steps[place]
                case 4:
                    steps.insert(place, random.choice((({"do": "fly"}, b""), made("failed", why="so"), (None, b""), ([], b"x"))))
                case 5:
                    steps = steps[:place] or steps
                case _:
                    steps[place:place] = _chain(random, place, code_name)
        return encoded(steps)


def _chain(random: Random, place: int, code_name: str) -> Steps:
    """Many steps of a kind, or steps whose data is that of others."""
    count = random.choice((2, 20, 200))
    match random.randrange(5):
        case 0:
            return [made("allocate", address=FIRST + (1 << 20) + 32 * i, bytes=32, kind=0) for i in range(count)]
        case 1:
            return [made("fill", block=[FIRST, 2, 0, 1, 1024, 1], byte=i % 256) for i in range(count)]
        case 2:
            return [({"do": "write", "block": line(FIRST, 8), "size": 8, "same": place + i - 1}, b"") for i in range(count)]
        case 3:
            return [made("free", address=FIRST), made("allocate", address=FIRST, bytes=64, kind=0)] * (count // 2)
        case _:
            return [some_launch(random, [FIRST, FIRST + 8192], code_name) for _ in range(min(count, 8))]


class SpoiltMemory(_Recording):
    """Allocations, copies, textures and surfaces anywhere, and launches with any parameters."""

    def file(self, random: Random, code_name: str) -> bytes:
        steps = beginning(self.code, lenient=random.random() < 0.3)
        places: list[int] = []
        for _ in range(random.randint(1, 4)):
            size = random.choice(PIECES) if random.random() < 0.98 else random.choice(NUMBERS)
            gap = random.choice((0, 64, 256, 1 << 16)) if random.random() < 0.97 else random.choice((-64, *NUMBERS))
            places.append(places[-1] + 8192 + gap if places else random.choice((FIRST, FIRST, FIRST + 65536, LAST - (1 << 17))))
            steps.append(made("allocate", address=places[-1], bytes=size, kind=random.randrange(4)))
        if random.random() < 0.8:
            names = {
                name: [place + random.choice((0, 0, 0, 0, 4, -64)), 64]
                for name, place in zip(("counter", "table"), _behind(places), strict=True)
            }
            steps.append(made("variables", module=0, places=names))
        textures = 0
        for _ in range(random.randint(1, 8)):
            match random.randrange(16):
                case 0:
                    steps.append(made("fill", block=_block(places, random), byte=random.randrange(256)))
                case 1:
                    steps.append(made("copy", to=(to := _block(places, random)), origin=[_place(places, random), *to[1:]]))
                case 2:
                    block = _block(places, random)
                    size = block[3] * block[4] * block[5]
                    data = random.choice(FORMS).ljust(size, b"A")[:size] if 0 <= size <= 1 << 16 else b"abc"
                    steps.append(made(random.choice(("write", "read")), data, block=block))
                case 3 | 4 | 5 | 6 | 7 | 8:
                    textures += 1
                    steps.append(made("texture", handle=textures, words=_texture(places, random)))
                case 9:
                    steps.append(made("free", address=random.choice(places)))
                case _:
                    steps.append(some_launch(random, places, code_name, random.choice((0.0, 0.3))))
        steps.append(some_launch(random, places, code_name, 0.2))
        return encoded([*steps, made("end", how="ended")])


def _behind(places: list[int]) -> tuple[int, int]:
    """Where the variables may lie: behind all else."""
    return max(places) + (1 << 14), max(places) + (1 << 14) + 256


def _place(places: list[int], random: Random) -> int:
    """An address at, near or far from what is allocated."""
    if random.random() < 0.02:
        return random.choice(NUMBERS)
    odd = random.choice((4080, 4095, 4096, -1, -64)) if random.random() < 0.2 else random.choice((0, 0, 0, 4, 16, 60, 64))
    return random.choice(places) + odd


def _block(places: list[int], random: Random) -> list[int]:
    """Rows in slices that may or may not fit."""
    width, rows, slices = random.choice((1, 3, 16, 64)), random.choice((1, 1, 4, 16)), random.choice((1, 1, 1, 2))
    pitch = random.choice((width, width, width + 1, 64, 512))
    pitch = pitch if random.random() < 0.05 else max(pitch, width)
    block = [_place(places, random), pitch, random.choice((pitch * rows, pitch * rows + 64)), width, rows, slices]
    if random.random() < 0.05:
        block[random.randrange(1, 6)] = random.choice(NUMBERS)
    return block


def _texture(places: list[int], random: Random) -> list[int]:
    """A description of texels that may or may not lie in an allocation."""
    channels, bits = random.choice((1, 1, 2, 4)), random.choice((8, 16, 32, 32))
    width, height, depth = random.choice(((64, 0, 0), (16, 8, 0), (8, 4, 4), (1, 1, 0), (2, 1, 1), (16, 4, 0), (3, 5, 7)))
    kind, mode = random.choice((0, 1, 2)), random.choice((0, 1, 3)) | random.choice((0, 0, 64, 128 if depth else 0))
    if bits == 32 and random.random() < 0.5:
        kind, mode = 2, mode | random.choice((0, 16))
    kind = min(kind, 1) if bits < 32 and random.random() < 0.95 else kind
    bytes_ = width * channels * bits // 8
    words = [_place(places, random), width, height, depth, bytes_, sum(bits << 8 * i for i in range(channels)), kind, mode]
    if random.random() < 0.1:
        words[random.randrange(len(words))] = random.choice(NUMBERS)
    return words


class SpoiltData(_Recording):
    """Data that unpacks to too much or too little, texts that are no steps, sizes that lie, files that are cut off."""

    def file(self, random: Random, code_name: str) -> bytes:
        steps = good_steps(self.code, random, code_name)
        place = random.randrange(2, len(steps))
        match random.randrange(8):
            case 0:
                steps[1:2] = [made("module", _bomb(random), number=0)]
            case 1 | 2:
                size = random.choice((16, 4096, 1 << 20))
                packed = zlib.compress(bytes(random.choice((0, 1, size - 1, size, size + 1, 1 << 24))), random.choice((1, 9)))
                about = {"do": random.choice(("write", "read")), "block": line(FIRST, size), "size": size, "packed": True}
                steps.insert(place, (about, packed[: random.choice((len(packed), len(packed) // 2))]))
            case 3:
                steps[place] = (random.choice(_texts()), steps[place][1])
            case 4:
                about, data = steps[place]
                steps[place] = (about, random.choice((data + b"x", data[:-1], b"", bytes(1 << 16))))
            case 5:
                whole = encoded(steps)
                return whole[: random.randrange(len(whole))]
            case 6:
                return encoded(steps[:place]) + _lying_head(random) + encoded(steps[place:])[len(HEAD) :]
            case _:
                text = json.dumps(steps[place][0]).encode()
                cut = random.randrange(len(text))
                steps[place] = (
                    text[:cut] + random.choice((b"", b"\xff", b"[[", b"}", b'"')) + text[cut + random.randint(0, 3) :],
                    steps[place][1],
                )
        return encoded(steps)


@lru_cache(1)
def _texts() -> tuple[bytes, ...]:
    return (
        b"",
        b"{",
        b"null",
        b"[" * 5000,
        b'{"do":' * 2000,
        b"9" * 5000,
        b"\xff\xfe",
        b'{"do":"end","do":"free"}',
        b" " * 100_000,
    )


@lru_cache(16)
def _packed(size: int, packer: str) -> bytes:
    if packer == "zstd":
        import zstandard

        return zstandard.ZstdCompressor().compress(bytes(size))
    import lz4.block

    return lz4.block.compress(bytes(size), store_size=False)


def _bomb(random: Random) -> bytes:
    """A fat binary whose entries unpack to something else than they say."""
    size = random.choice((0, 100, 1 << 16, 64 << 20))
    packer = random.choice(("zstd", "lz4"))
    flags = {"zstd": 0x8000, "lz4": 0x2000}[packer] if random.random() < 0.9 else random.choice((1, 0x4000, 0xA000))
    said = random.choice((0, 1, 100, size, size + 1, 1 << 30, (1 << 30) + 1, 1 << 40, (1 << 64) - 1))
    data = bytearray(fat_binary(*[(_packed(size, packer), 75)] * random.choice((1, 3)), flags=flags, unpacked=said))
    if random.random() < 0.3:
        at = random.randrange(0, min(80, len(data) - 8), 4)
        struct.pack_into("<I", data, at, random.choice(NUMBERS) % (1 << 32))
    return bytes(data)


def _lying_head(random: Random) -> bytes:
    """What stands before a step, with a right checksum and wrong sizes."""
    sizes = struct.pack("<IQI", random.choice(NUMBERS) % (1 << 32), random.choice(NUMBERS) % (1 << 64), random.randrange(1 << 32))
    return sizes + struct.pack("<I", zlib.crc32(sizes))
