"""Texture fetches: addressing modes, and linear filtering with the 8 fractional bits that hardware uses."""

from __future__ import annotations

import math

import numpy as np

from warploom.base.records import Array, Lanes, int64
from warploom.compiler.code.table import Space
from warploom.emulator.memory import add_sector, fail, log_access
from warploom.emulator.pointers import first_lane, float_from_bits, get8, get16, get32, get_f32, put32, put_f32
from warploom.emulator.records import EmulatedMachine, EncodedInstruction, Fault, TextureRecord
from warploom.emulator.trace.format import FILTERED
from warploom.jit import callee

FAULT_TEXTURE = int(Fault.TEXTURE)
CLAMP, WRAP, BORDER, MIRROR = 0, 1, 2, 3
TEXTURE = int(Space.TEXTURE)
INTEGER_COORDINATES, GATHER = 1, 2  # what the `type` of an instruction says
_GATHERED = ((0, 1), (1, 1), (1, 0), (0, 0))  # the order in which texels are gathered, from below and left


@callee
def _placed(index: int, size: int, addressing: int) -> int:
    """The texel that an index means; -1 where the border shows."""
    if 0 <= index < size:
        return index
    if addressing == WRAP:
        return index % size
    if addressing == BORDER:
        return -1
    if addressing == MIRROR:
        turn = index % (2 * size)
        return turn if turn < size else 2 * size - 1 - turn
    return 0 if index < 0 else int64(size - 1)


@callee
def _sector_in_blocks(texture: TextureRecord, x: int, y: int, z: int) -> int:
    """The sector of a texel of an array that lies in blocks of 64 bytes times eight rows, as those of CUDA do.

    A sector is 16 bytes of two rows; two beside each other, then four such pairs below each other, are half a block. What has one
    row uses half of its sectors.
    """
    across = x * (texture.size * texture.channels)
    if texture.dimensions == 1:
        return (texture.address >> 5) + (across >> 4)
    blocks = (texture.width * (texture.size * texture.channels) + 63) >> 6
    block = (z * ((texture.height + 7) >> 3) + (y >> 3)) * blocks + (across >> 6)
    within = (across >> 5 & 1) << 3 | (y >> 1 & 3) << 1 | (across >> 4 & 1)
    return (texture.address >> 5) + (block << 4 | within)


@callee
def _texel(
    machine: EmulatedMachine, texture: TextureRecord, x: int, y: int, z: int, bit: Lanes, count: int, in_blocks: bool
) -> tuple[int, int]:
    """Where the texel at integral coordinates lies (0: the border), and how many sectors the access now touches."""
    x = _placed(x, texture.width, texture.addressing)
    y = _placed(y, texture.height, texture.addressing)
    z = _placed(z, texture.depth, texture.addressing)
    if x < 0 or y < 0 or z < 0:
        return 0, count
    address = texture.address + ((z * texture.height + y) * texture.width + x) * (texture.size * texture.channels)
    if machine.tracing:
        sector = _sector_in_blocks(texture, x, y, z) if in_blocks else address >> 5
        count = add_sector(machine, count, np.uint32(sector), bit, 0)
    return machine.arena - machine.arena_start + address, count


@callee
def _channel(texture: TextureRecord, place: int, channel: int) -> np.uint32:
    """One channel of a texel as a word; narrow integers are extended."""
    if texture.size == 4:
        return get32(place + 4 * channel)
    if texture.size == 2:
        half = get16(place + 2 * channel)
        return np.uint32(np.int32(np.int16(half))) if texture.signed else np.uint32(half)
    byte = get8(place + channel)
    return np.uint32(np.int32(np.int8(byte))) if texture.signed else np.uint32(byte)


@callee
def _scaled(coordinate: np.float32, size: int, texture: TextureRecord) -> float:
    """A coordinate in texels. A normalised one is first cut to 21 fractional bits, as hardware does; a NaN counts as 0."""
    if math.isnan(coordinate):
        return 0.0
    wide = min(max(np.float64(coordinate), -1.0e9), 1.0e9)
    if texture.normalized:
        wide = math.floor(wide * 2097152.0) / 2097152.0
        if texture.addressing == WRAP:
            wide -= math.floor(wide)
        elif texture.addressing == MIRROR:
            wide -= 2.0 * math.floor(wide * 0.5)
        wide *= size
    return wide


@callee
def _weight(position: float) -> tuple[int, int]:
    """The texel below a position and the weight of the one above it, in 256ths."""
    below = math.floor(position)
    weight = math.floor((position - below) * 256.0 + 0.5)
    return int64(below), int64(weight)


@callee
def _both(x: int, y: int) -> int:
    """The product of two weights, rounded to 256ths as hardware does."""
    return (x * y + 128) >> 8


@callee
def _corner_weight(corner: int, wx: int, wy: int, wz: int) -> int:
    """The weight of one of the eight texels around a position. They add up to 256: what rounding adds here it takes there."""
    xy, xz, yz = _both(wx, wy), _both(wx, wz), _both(wy, wz)
    xyz = _both(xy, wz)
    if corner == 0:
        return 256 - wx - wy - wz + xy + xz + yz - xyz
    if corner == 1:
        return wx - xy - xz + xyz
    if corner == 2:
        return wy - xy - yz + xyz
    if corner == 3:
        return xy - xyz
    if corner == 4:
        return wz - xz - yz + xyz
    if corner == 5:
        return xz - xyz
    return yz - xyz if corner == 6 else xyz


@callee
def _filtered(
    machine: EmulatedMachine,
    texture: TextureRecord,
    x: float,
    y: float,
    z: float,
    channel: int,
    bit: Lanes,
    count: int,
    in_blocks: bool,
) -> tuple[np.float32, int]:
    """Linear interpolation between the 2, 4 or 8 texels around a position."""
    x0, wx = _weight(x - 0.5)
    y0, wy = _weight(y - 0.5) if texture.dimensions > 1 else (0, 0)
    z0, wz = _weight(z - 0.5) if texture.dimensions > 2 else (int64(z), 0)  # z: the layer, if there are some
    total = 0.0
    for corner in range(1 << texture.dimensions):
        weight = _corner_weight(corner, wx, wy, wz)
        if weight != 0:
            place, count = _texel(
                machine, texture, x0 + (corner & 1), y0 + ((corner >> 1) & 1), z0 + (corner >> 2), bit, count, in_blocks
            )
            if place != 0:
                total += np.float64(get_f32(place + 4 * channel)) * (np.float64(weight) / 256.0)
    return np.float32(total), count


@callee
def _gathered(
    machine: EmulatedMachine,
    texture: TextureRecord,
    x: float,
    y: float,
    corner: int,
    channel: int,
    bit: Lanes,
    count: int,
    in_blocks: bool,
) -> tuple[np.uint32, int]:
    """One channel of one of the four texels around a position."""
    x0, wx = _weight(x - 0.5)
    y0, wy = _weight(y - 0.5)
    along, up = _GATHERED[corner]
    place, count = _texel(machine, texture, x0 + (wx >> 8) + along, y0 + (wy >> 8) + up, 0, bit, count, in_blocks)
    return (_channel(texture, place, channel) if place != 0 else np.uint32(0)), count


@callee
def _layer(texture: TextureRecord, number: np.uint32) -> float:
    """The layer that a number means, as a coordinate."""
    return float(min(max(int64(np.int32(number)), 0), int64(texture.layers) - 1))


@callee
def _about_texels(texture: TextureRecord, instruction: EncodedInstruction) -> int:
    """What the trace says of a fetch above its space: its words less one, and whether several texels are filtered.

    These are the words that are wanted; where texels are filtered, half of those of a texel are no fewer.
    """
    several = instruction.type == GATHER or (texture.linear and instruction.type != INTEGER_COORDINATES)
    words = 1 if instruction.type == GATHER else int64(instruction.writes)
    if several:
        words = max(words, (int64(texture.size * texture.channels) + 7) >> 3)
    words = min(max(words, 1), FILTERED)
    return words - 1 | (FILTERED if several else 0)


@callee
def fetch_texels(
    machine: EmulatedMachine, textures: Array[TextureRecord], instruction: EncodedInstruction, rows: int, mask: Lanes, log: bool
) -> bool:
    """Execute a texture instruction for the lanes of the mask.

    Rows: the handle, three coordinates, the layer; the results, at most four, are `write_rows`. The `type` of an instruction
    tells whether coordinates are integers, or whether channel `size` of four texels is gathered; `signed`, whether it names a
    layer; `offset`, whether the texels lie in blocks.
    """
    count, about = 0, 0
    in_blocks = instruction.offset != 0
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        bit = np.uint32(1) << np.uint32(lane)
        at = 4 * lane
        handle = int64(get32(rows + instruction.rows[0] + at)) - 1
        if handle < 0 or handle >= machine.texture_count:
            return fail(machine, FAULT_TEXTURE, lane, handle + 1, TEXTURE)
        texture = textures[handle]
        if texture.dimensions != instruction.elements and (texture.dimensions != 1 or instruction.operation == 0):
            return fail(machine, FAULT_TEXTURE, lane, handle + 1, TEXTURE)
        if (texture.layers > 0) != (instruction.signed != 0):
            return fail(machine, FAULT_TEXTURE, lane, handle + 1, TEXTURE)
        raw_x, raw_y = get32(rows + instruction.rows[1] + at), get32(rows + instruction.rows[2] + at)
        raw_z = get32(rows + instruction.rows[3] + at)
        if instruction.type == INTEGER_COORDINATES:
            x, y, z = float(np.int32(raw_x)), float(np.int32(raw_y)), float(np.int32(raw_z))
        else:
            x = _scaled(float_from_bits(raw_x), texture.width, texture)
            y = _scaled(float_from_bits(raw_y), texture.height, texture) if texture.dimensions > 1 else 0.0
            z = _scaled(float_from_bits(raw_z), texture.depth, texture) if texture.dimensions > 2 else 0.0
        if texture.layers > 0:
            z = _layer(texture, get32(rows + instruction.rows[4] + at))
        about |= _about_texels(texture, instruction)
        for channel in range(instruction.writes):
            row = rows + instruction.write_rows[channel] + at
            if instruction.type == GATHER:
                word, count = _gathered(machine, texture, x, y, channel, int64(instruction.size), bit, count, in_blocks)
                put32(row, word if instruction.size < texture.channels else np.uint32(0))
            elif channel >= texture.channels:
                put32(row, np.uint32(0))
            elif texture.linear and instruction.type != INTEGER_COORDINATES:
                value, count = _filtered(machine, texture, x, y, z, channel, bit, count, in_blocks)
                put_f32(row, value)
            else:
                place, count = _texel(
                    machine,
                    texture,
                    int64(math.floor(x)),
                    int64(math.floor(y)),
                    int64(math.floor(z)),
                    bit,
                    count,
                    in_blocks,
                )
                put32(row, _channel(texture, place, channel) if place != 0 else np.uint32(0))
    if log and machine.tracing:
        log_access(machine, TEXTURE, count, about if in_blocks and count > 0 else 0)
    return True
