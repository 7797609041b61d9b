"""Encryption by AES-128 with look-up tables, four threads a block."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 24
THREADS, ROUNDS = 256, 10
SIZES = Sizes(tiny=8, small=128, paper=512)  # CTAs, 1 KiB of text each


def times_two(values: np.ndarray) -> np.ndarray:
    """Multiplication by x in the field of 256 elements."""
    return ((values << 1) ^ np.where(values & 0x80, 0x11B, 0)) & 0xFF


def substitution() -> np.ndarray:
    """The S-box: inverse in the field, then an affine map of the bits."""
    power = np.ones(255, np.int64)  # powers of the generator x + 1
    for i in range(1, 255):
        power[i] = power[i - 1] ^ times_two(power[i - 1])
    inverse = np.zeros(256, np.int64)
    inverse[power] = power[-np.arange(255) % 255]
    box = inverse.copy()
    for turn in range(1, 5):
        box ^= ((inverse << turn) | (inverse >> (8 - turn))) & 0xFF
    return box ^ 0x63


SBOX = substitution()


def round_tables() -> np.ndarray:
    """The four tables that join substitution and mix of columns; each is the one before, rotated by a byte."""
    two = times_two(SBOX)
    first = (two << 24 | SBOX << 16 | SBOX << 8 | (two ^ SBOX)).astype(np.uint32)
    return np.stack([first >> (8 * i) | (first << (32 - 8 * i) if i else 0) for i in range(4)]).astype(np.uint32)


def expand_key(key: np.ndarray) -> np.ndarray:
    """The 44 words of the round keys from the 16 bytes of the key."""
    words = [int.from_bytes(key[i : i + 4].tobytes(), "big") for i in range(0, 16, 4)]
    constant = 1
    for i in range(4, 4 * (ROUNDS + 1)):
        word = words[-1]
        if i % 4 == 0:
            rotated = ((word << 8) | (word >> 24)) & 0xFFFFFFFF
            word = int.from_bytes(bytes(SBOX[byte] for byte in rotated.to_bytes(4, "big")), "big") ^ (constant << 24)
            constant = int(times_two(np.array(constant)))
        words.append(words[-4] ^ word)
    return np.array(words, np.uint32)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    random = np.random.default_rng(seed)
    return {
        "text": random.integers(0, 256, SIZES[size] * THREADS * 4).astype(np.uint8),
        "key": random.integers(0, 256, 16).astype(np.uint8),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    words = arrays["text"].view(">u4").astype(np.uint32)
    cipher = gpu.array(np.zeros(len(words), np.uint32))
    keys = gpu.array(expand_key(arrays["key"]))
    gpu.launch("aes", (len(words) // THREADS,), (THREADS,), gpu.array(words), cipher, gpu.array(round_tables()), keys)
    return {"cipher": cipher.get().astype(">u4").view(np.uint8)}


def reference(arrays: Arrays) -> Arrays:
    """The standard's own steps on bytes: substitute, shift rows, mix columns, add the round key."""
    keys = expand_key(arrays["key"]).astype(">u4").view(np.uint8).reshape(ROUNDS + 1, 4, 4).astype(np.int64)
    state = arrays["text"].reshape(-1, 4, 4).astype(np.int64) ^ keys[0]  # block, column, row
    for number in range(1, ROUNDS + 1):
        state = SBOX[state]
        state = np.stack([np.roll(state[:, :, row], -row, axis=1) for row in range(4)], axis=2)
        if number < ROUNDS:
            doubled = times_two(state)
            after = [np.roll(state, -turn, axis=2) for turn in (1, 2, 3)]
            state = doubled ^ np.roll(doubled, -1, axis=2) ^ after[0] ^ after[1] ^ after[2]
        state = state ^ keys[number]
    return {"cipher": state.astype(np.uint8).reshape(-1)}
