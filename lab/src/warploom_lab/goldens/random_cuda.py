"""Random CUDA kernels whose output every correct GPU gives alike: integers, floats, halves, divergence, shared memory, shuffles.

A kernel is a function of its seed alone. It reads one array, keeps a handful of variables, runs a random list of statements
over them and stores what they hold at the end. Nothing in it is undefined or depends on timing: shift counts are masked,
divisors are odd, conversions go through intrinsics that say what happens out of range, and lanes and threads look at each other
only where all of them are.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

BLOCK, BLOCKS = 96, 3  # three warps a CTA
WORDS = 1024  # of the input array
OUTPUTS = 8  # words that each thread stores
TABLE = 64  # words of constant memory
INTEGERS, LONGS, FLOATS, DOUBLES, HALVES = 4, 2, 4, 1, 2
FEATURES = ("integer", "float", "double", "half", "divergence", "shared", "shuffle", "atomic", "local", "call")


@dataclass(frozen=True)
class RandomKernel:
    """The CUDA source of one seed, and which features it uses."""

    seed: int
    source: str
    features: frozenset[str]

    def arguments(self) -> tuple[np.ndarray, np.ndarray]:
        """The input, and the output before the launch."""
        words = np.random.default_rng(self.seed).integers(0, 1 << 32, WORDS, np.uint32)
        return words, np.zeros(BLOCKS * BLOCK * OUTPUTS, np.uint32)


class _Writer:
    """Writes the body of one kernel."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        optional = [name for name in FEATURES if name != "integer" and self.random.random() < 0.55]
        self.features = frozenset({"integer", *optional})
        self.lines: list[str] = []
        self.depth = 1
        self.loops = 0

    def put(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    # --- expressions --------------------------------------------------------------------------------------------------------

    def integer(self) -> str:
        pick = self.random.random()
        if pick < 0.70:
            return f"i{self.random.randrange(INTEGERS)}"
        if pick < 0.85:
            return f"0x{self.random.getrandbits(self.random.choice((3, 8, 16, 32))):x}u"
        return self.random.choice(("thread", "lane", f"in[(i0 + {self.random.randrange(97)}u) % {WORDS}u]", "table[i1 % 64u]"))

    def integer_result(self) -> str:
        a, b, c = self.integer(), self.integer(), self.integer()
        forms = [
            f"{a} + {b}",
            f"{a} - {b}",
            f"{a} * {b} + {c}",
            f"{a} & {b}",
            f"({a} ^ {b}) | {c}",
            f"~({a}) ^ {b}",
            f"{a} << ({b} & 31u)",
            f"{a} >> ({b} & 31u)",
            f"(u32)((int){a} >> ({b} & 31u))",
            f"__umulhi({a}, {b})",
            f"(u32)__mulhi((int){a}, (int){b})",
            f"min({a}, {b})",
            f"(u32)max((int){a}, (int){b})",
            f"{a} / ({b} | 1u)",
            f"(u32)((int)({a} >> 1) % ((int)({b} & 0xffffu) | 1))",
            f"__popc({a}) + __clz({b})",
            f"__brev({a}) ^ __ffs({b})",
            f"__byte_perm({a}, {b}, {c})",
            f"__funnelshift_l({a}, {b}, {c})",
            f"__funnelshift_r({a}, {b}, {c})",
            f"({a} < {b}) ? {c} : {a}",
            f"((int){a} >= (int){b}) ? {b} : {c}",
            f"(u32)(unsigned char)({a} >> 8) * (u32)(short){b}",
            f"__usad({a}, {b}, {c})",
            f"(u32)(l0 >> ({a} & 63u))",
            f"((const unsigned char*)in)[{a} % {4 * WORDS}u] + ((const short*)in)[{b} % {2 * WORDS}u]",
        ]
        return self.random.choice(forms)

    def long_result(self) -> str:
        a, b = (self.random.choice(("l0", "l1", f"(u64){self.integer()}")) for _ in range(2))
        forms = [
            f"{a} + {b}",
            f"{a} - {b} * 3ull",
            f"{a} * {b}",
            f"{a} ^ ({b} << ({self.integer()} & 63u))",
            f"(u64)((long long){a} >> ({self.integer()} & 63u))",
            f"{a} / ({b} | 1ull)",
            f"__umul64hi({a}, {b})",
            f"({a} < {b}) ? {a} : {b}",
            f"(u64)__popcll({a}) + ((u64){self.integer()} * (u64){self.integer()})",
        ]
        return self.random.choice(forms)

    def real(self) -> str:
        pick = self.random.random()
        if pick < 0.75:
            return f"f{self.random.randrange(FLOATS)}"
        return self.random.choice(("1.5f", "-0.25f", "3.0e-3f", "1.0e8f", f"(float)({self.integer()} & 0xffffu)"))

    def real_result(self) -> str:
        a, b, c = self.real(), self.real(), self.real()
        i = self.integer()
        forms = [
            f"{a} + {b}",
            f"{a} - {b}",
            f"{a} * {b}",
            f"fmaf({a}, {b}, {c})",
            f"fminf({a}, {b})",
            f"fmaxf(fabsf({a}), {b})",
            f"{a} / ({b} * {b} + 1.0f)",
            f"sqrtf(fabsf({a}))",
            f"({a} < {b}) ? {c} : -({a})",
            f"__int2float_rn((int){i})",
            f"__uint2float_rz({i})",
            f"floorf({a}) + ceilf({b})",
            f"__fadd_rd({a}, {b})",
            f"__fmul_ru({a}, {b})",
            f"__fmaf_rz({a}, {b}, {c})",
            f"__saturatef({a})",
            f"truncf({a}) - rintf({b})",
        ]
        if "double" in self.features:
            forms += [f"(float)(d0 * (double){a} + (double){b})", f"(float)sqrt(fabs(d0) + (double){a} * (double){a})"]
        return self.random.choice(forms)

    def condition(self) -> str:
        kinds = [
            f"({self.integer()} & {1 + self.random.randrange(15)}u) > {self.random.randrange(8)}u",
            f"lane < {self.random.randrange(1, 32)}u",
        ]
        kinds += [f"(int){self.integer()} < (int){self.integer()}"]
        if "float" in self.features:
            kinds += [f"{self.real()} > {self.real()}", f"!({self.real()} <= {self.real()})"]
        return self.random.choice(kinds)

    # --- statements ---------------------------------------------------------------------------------------------------------

    def assignment(self) -> None:
        kinds = ["integer"] * 4 + ["long"] * 2
        kinds += [name for name in ("float", "double", "half", "local", "call") if name in self.features for _ in range(3)]
        kind = self.random.choice(kinds)
        if kind == "integer":
            self.put(f"i{self.random.randrange(INTEGERS)} = {self.integer_result()};")
        elif kind == "long":
            self.put(f"l{self.random.randrange(LONGS)} = {self.long_result()};")
        elif kind == "float":
            self.put(f"f{self.random.randrange(FLOATS)} = {self.real_result()};")
            if self.random.random() < 0.3:
                target, mode = self.random.randrange(INTEGERS), self.random.choice(("rn", "rz", "rd", "ru"))
                self.put(f"i{target} ^= (u32)__float2int_{mode}({self.real()});")
        elif kind == "double":
            forms = (
                "d0 * 1.000000001 + (double)(int)i0",
                "fma(d0, d0, (double)l0)",
                "d0 / (d0 * d0 + 2.0)",
                "fmin(d0, (double)i1)",
            )
            self.put(f"d0 = {self.random.choice(forms)};")
        elif kind == "half":
            self.half()
        elif kind == "local":
            self.put(f"memory[{self.integer()} & 7u] += {self.integer()};")
            self.put(f"i{self.random.randrange(INTEGERS)} ^= memory[{self.integer()} & 7u];")
        else:
            result, a, b = self.random.randrange(INTEGERS), self.integer(), self.integer()
            self.put(f"i{result} = mixed({a}, {b}, &i{self.random.randrange(INTEGERS)});")

    def half(self) -> None:
        target = f"h{self.random.randrange(HALVES)}"
        a, b = (f"h{self.random.randrange(HALVES)}" for _ in range(2))
        forms = (
            f"__hadd2({a}, {b})",
            f"__hsub2({a}, {b})",
            f"__hmul2({a}, {b})",
            f"__hfma2({a}, {b}, {a})",
            "__floats2half2_rn((float)(short)i0, (float)(i1 & 255u))",
            f"__hmin2({a}, {b})",
            f"__lowhigh2highlow({a})",
        )
        self.put(f"{target} = {self.random.choice(forms)};")
        if self.random.random() < 0.5:
            self.put(f"i{self.random.randrange(INTEGERS)} += (u32)__half2int_rz(__low2half({target}));")

    def branch(self) -> None:
        kind = self.random.choice(("if", "if", "if-else", "loop", "switch"))
        if kind == "switch":
            self.put(f"switch ({self.integer()} % 6u) {{")
            for case in range(5):
                self.put(f"case {case}u:")
                self.depth += 1
                self.assignment()
                if self.random.random() < 0.75:
                    self.put("break;")
                self.depth -= 1
            self.put("default:")
            self.put("    i0 += 7u;")
            self.put("}")
            return
        if kind == "loop":
            name = f"n{self.loops}"
            self.loops += 1
            self.put(f"for (u32 {name} = 0; {name} < ({self.integer()} & {self.random.choice((3, 7))}u); {name}++) {{")
        else:
            self.put(f"if ({self.condition()}) {{")
        self.depth += 1
        self.block(self.random.randrange(1, 4))
        if kind == "loop" and self.random.random() < 0.5:
            self.put(f"if ({self.condition()}) {self.random.choice(('break', 'continue'))};")
            self.assignment()
        self.depth -= 1
        if kind == "if-else":
            self.put("} else {")
            self.depth += 1
            self.block(self.random.randrange(1, 3))
            self.depth -= 1
        self.put("}")

    def block(self, statements: int) -> None:
        for _ in range(statements):
            if "divergence" in self.features and self.depth < 4 and self.random.random() < 0.35:
                self.branch()
            else:
                self.assignment()

    def together(self) -> None:
        """A statement that all threads of the CTA reach."""
        kinds = [name for name in ("shared", "shuffle", "atomic") if name in self.features]
        if not kinds:
            return
        kind = self.random.choice(kinds)
        i = f"i{self.random.randrange(INTEGERS)}"
        if kind == "shared":
            self.put(f"shared[thread] = {self.integer()};")
            self.put("__syncthreads();")
            self.put(f"{i} += shared[({self.integer()}) % {BLOCK}u];")
            self.put("__syncthreads();")
        elif kind == "atomic":
            name = self.random.choice(("Add", "Max", "Min", "Xor", "Or", "And"))
            self.put(f"if (thread == 0) counts[0] = {self.random.getrandbits(32)}u;")
            self.put("__syncthreads();")
            self.put(f"if ({self.condition()}) atomic{name}(&counts[0], {self.integer()});")
            self.put("__syncthreads();")
            self.put(f"{i} ^= counts[0];")
            self.put("__syncthreads();")
        else:
            all_lanes = "0xffffffffu"
            forms = (
                f"__shfl_sync({all_lanes}, {self.integer()}, {self.integer()} & 31u)",
                f"__shfl_xor_sync({all_lanes}, {self.integer()}, {1 << self.random.randrange(5)})",
                f"__shfl_up_sync({all_lanes}, {self.integer()}, {self.random.randrange(1, 8)}, 16)",
                f"__shfl_down_sync({all_lanes}, {self.integer()}, {self.random.randrange(1, 8)})",
                f"__ballot_sync({all_lanes}, {self.condition()})",
                f"(u32)__any_sync({all_lanes}, {self.condition()}) + 2u * (u32)__all_sync({all_lanes}, {self.condition()})",
                f"__match_any_sync({all_lanes}, {self.integer()} & 3u)",
            )
            self.put(f"{i} ^= {self.random.choice(forms)};")


def random_kernel(seed: int) -> RandomKernel:
    """The kernel of a seed: ``extern "C" __global__ void k(const unsigned* in, unsigned* out)``."""
    writer = _Writer(seed)
    for _ in range(writer.random.randrange(3, 7)):
        writer.block(writer.random.randrange(2, 6))
        writer.together()
    body = "\n".join(writer.lines)
    half = "half" in writer.features
    names = [f"i{n}" for n in range(INTEGERS)]
    stored = [*names, "(u32)l0 ^ (u32)(l0 >> 32)", "(u32)l1 + (u32)(l1 >> 32)"]
    stored.append("__float_as_uint(f0) ^ __float_as_uint(f1 + f2)" if "float" in writer.features else "__float_as_uint(f3)")
    last = "(u32)__double_as_longlong(d0) ^ (u32)(__double_as_longlong(d0) >> 32)"
    stored.append(f"({last}){' ^ *(u32*)&h0 ^ *(u32*)&h1' if half else ''}")
    stores = "\n".join(f"    out[at * {OUTPUTS}u + {n}u] = {value};" for n, value in enumerate(stored))
    halves = "__half2 h0 = __floats2half2_rn((float)(i0 & 63u), 0.5f), h1 = __floats2half2_rn(-1.25f, (float)(i1 & 31u));"
    halves = halves if half else ""
    source = f"""{"#include <cuda_fp16.h>" if half else ""}
typedef unsigned u32;
typedef unsigned long long u64;
__constant__ u32 table[{TABLE}] = {{ {", ".join(f"{writer.random.getrandbits(32)}u" for _ in range(TABLE))} }};

__device__ __noinline__ u32 mixed(u32 a, u32 b, u32* c)
{{
    u32 sum = 0;
    for (u32 n = 0; n < (a & 3u); n++) sum = sum * 31u + (b >> n);
    *c += sum;
    return sum ^ a;
}}

extern "C" __global__ void k(const u32* in, u32* out)
{{
    __shared__ u32 shared[{BLOCK}];
    __shared__ u32 counts[1];
    u32 thread = threadIdx.x, lane = thread & 31u, at = blockIdx.x * {BLOCK}u + thread;
    u32 memory[8];
    for (u32 n = 0; n < 8u; n++) memory[n] = n * 2654435761u + at;
    {" ".join(f"u32 i{n} = in[(at * {2 * n + 1}u + {n}u) % {WORDS}u];" for n in range(INTEGERS))}
    u64 l0 = ((u64)i0 << 32) | i1, l1 = (u64)i2 * i3;
    {" ".join(f"float f{n} = (float)(int)(i{n} >> 12) * {0.5 ** (n + 3)}f;" for n in range(FLOATS))}
    double d0 = (double)(int)i2 * 1.0e-3;
    {halves}
{body}
    shared[thread] = memory[thread & 7u];
    counts[0] = 0;
    i3 ^= memory[i0 & 7u];
{stores}
}}
"""
    return RandomKernel(seed, source, writer.features)
