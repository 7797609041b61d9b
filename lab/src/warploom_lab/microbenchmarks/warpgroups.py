"""Products of warpgroups: latency and rate by shape, type, place of A and number of warpgroups, and who works beside them.

The kernels are made here, for the list of accumulators is part of an instruction's text. A and B lie in shared memory in rows of
128 bytes that are exchanged within 128 (or as plain pieces of eight rows, ``plain``); they hold what a launch finds there, for
no time depends on it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from warploom.studies.validate.benchmark import Launch, Microbenchmark, ModelRun, Outputs, Reading

ARCHITECTURE = "sm_90a"
GROUP = 128  # threads of a warpgroup
LENGTHS = 32, 160
UNROLLED = 8
SHARED_BYTES = 43008  # A 8 KB, B 32 KB, and room to begin at a multiple of 1 KB
COLUMNS = (8, 16, 32, 64, 128, 256)
TYPES = {  # elements of A and B, of the sum, and of the inner dimension
    "f16": ("f16.f16", "f32", 16),
    "f16.f16": ("f16.f16", "f16", 16),
    "bf16": ("bf16.bf16", "f32", 16),
    "tf32": ("tf32.tf32", "f32", 8),
    "e4m3": ("e4m3.e4m3", "f32", 32),
    "e4m3.f16": ("e4m3.e4m3", "f16", 32),
    "s8": ("s8.s8", "s32", 32),
}
_ROW_128, _PLAIN = 1024 >> 4 << 32 | 1 << 62, 128 >> 4 << 16 | 256 >> 4 << 32  # of descriptors: strides and exchange
_WAYS = {"chain": 1, "flood": 1, "two": 2}  # how many sets of accumulators take turns
_BESIDE = {
    "ffma": "_Pragma(\"unroll\") for (int k = 0; k < 16; k++) x[k] = __fmaf_rn(x[k], y, z);",
    "lds": "_Pragma(\"unroll\") for (int k = 0; k < 16; k++) { u32 v; asm volatile(\"ld.volatile.shared.u32 %0, [%1];\" "
    ": \"=r\"(v) : \"r\"(start + 4 * (threadIdx.x & 31) + 128 * k)); w ^= v; }",
    "sts": "_Pragma(\"unroll\") for (int k = 0; k < 16; k++) asm volatile(\"st.volatile.shared.u32 [%0], %1;\" "
    ":: \"r\"(start + 40960 + 4 * (threadIdx.x & 31) + 128 * (k & 3)), \"r\"(w));",
}  # fmt: skip


@dataclass(frozen=True)
class Product:
    """One kernel: ``way`` says whether each product is waited for (chain), or none is, into one or two sets of accumulators."""

    kind: str
    columns: int
    way: str = "flood"
    registers: bool = False  # A is there
    plain: bool = False
    beside: str = ""  # what a further warpgroup does
    issued: int = 0  # so many at once, and the clock is read before they are waited for

    @property
    def kernel(self) -> str:
        """Its name."""
        return self.name.replace(".", "_")

    @property
    def name(self) -> str:
        """What the numbers are called by."""
        words = [self.way, self.kind, f"n{self.columns}", "rs" if self.registers else "ss"]
        words += [f"issued{self.issued}"] * (self.issued > 0)
        return ".".join(words + ["plain"] * self.plain + ["beside", self.beside] * bool(self.beside))

    def _instruction(self, accumulators: str) -> str:
        elements, sum_type, inner = TYPES[self.kind]
        count = self.columns // (4 if sum_type == "f16" else 2)
        letter = "f" if sum_type == "f32" else "r"
        first = "{" + ", ".join(f"%{count + n}" for n in range(4)) + "}" if self.registers else f"%{count}"
        rest = count + (4 if self.registers else 1)
        words = "" if sum_type == "s32" else ", 1, 1"
        if inner == 16:
            words += ", 0" if self.registers else ", 0, 0"
        outputs = ", ".join(f'"+{letter}"({accumulators}[{n}])' for n in range(count))
        inputs = ", ".join(f'"r"(a[{n}])' for n in range(4)) if self.registers else '"l"(at_a)'
        listed = ", ".join(f"%{n}" for n in range(count))
        text = f"wgmma.mma_async.sync.aligned.m64n{self.columns}k{inner}.{sum_type}.{elements} {{{listed}}}, {first}, %{rest}, 1"
        return f'asm volatile("{text}{words};" : {outputs} : {inputs}, "l"(at_b) : "memory");'

    def _timed(self, step: str) -> str:
        """What is between the two readings of the clock, with the second."""
        if self.issued:
            return (step + "\n") * self.issued + "COMMIT\nCLOCK(t1);\nWAIT"
        return f"""#pragma unroll 1
    for (u32 i = 0; i < steps; i += {UNROLLED}) {{
        {(step + chr(10)) * (UNROLLED // _WAYS[self.way])}
        COMMIT
    }}
    WAIT
    CLOCK(t1);"""

    @property
    def source(self) -> str:
        """CUDA C++ of the kernel."""
        sum_type = TYPES[self.kind][1]
        count = self.columns // (4 if sum_type == "f16" else 2)
        kind = "float" if sum_type == "f32" else "u32"
        sets = "dec"[: _WAYS[self.way]]
        step = " ".join(self._instruction(one) for one in sets) + (" COMMIT WAIT FENCE " if self.way == "chain" else "")
        other = f"""
    if (threadIdx.x >= {GROUP}) {{
        float x[16], y = 1.0f + threadIdx.x, z = 0.5f * threadIdx.x;
        u32 w = threadIdx.x;
        for (int k = 0; k < 16; k++) x[k] = k + threadIdx.x;
        CLOCK(t0);
        for (u32 i = 0; i < others; i += 16) {{ {_BESIDE[self.beside]} }}
        for (int k = 0; k < 16; k++) w ^= __float_as_uint(x[k]);
        asm volatile("" :: "r"(w) : "memory");
        CLOCK(t1);
        DONE(w)
        return;
    }}""" if self.beside else ""  # fmt: skip
        return f"""
extern "C" __global__ void {self.kernel}(u32* out, u64 as_a, u64 as_b, u32 steps, u32 others) {{
    extern __shared__ u32 space[];
    u32 start = ((u32)__cvta_generic_to_shared(space) + 1023) & ~1023u;
    u64 at_a = as_a | (start >> 4), at_b = as_b | (start >> 4) + 512, t0, t1;
    __syncthreads();{other}
    u32 a[4];
    for (int n = 0; n < 4; n++) a[n] = threadIdx.x + n;
    {" ".join(f"{kind} {one}[{count}] = {{}};" for one in sets)}
    FENCE
    CLOCK(t0);
{self._timed(step)}
    {kind} sum = 0;
    for (int n = 0; n < {count}; n++) sum += {" + ".join(f"{one}[n]" for one in sets)};
    DONE(sum)
    if (as_a == ~0ull) out[0] = a[0] + a[1] + a[2] + a[3];
}}
"""


_COMMON = """
typedef unsigned int u32;
typedef unsigned long long u64;
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#define WAIT asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#define DONE(VALUE)                                                                  \\
    if (threadIdx.x % 32 == 0) {                                                     \\
        u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;                     \\
        out[2 * warp] = (u32)(t1 - t0);                                              \\
        out[2 * warp + 1] = (u32)(VALUE);                                            \\
    }
"""


@functools.cache
def cubin(product: Product) -> bytes:
    """The machine code of a kernel."""
    from warploom.compiler.sass.module import from_cuda

    return from_cuda(_COMMON + product.source, f"{product.kernel}.cu", ARCHITECTURE).make(None)


def launch(name: str, product: Product, groups: int, steps: int, others: int = 0) -> Launch:
    """A launch of so many warpgroups on an SM."""
    described = _PLAIN if product.plain else _ROW_128
    arguments = ("out", 8 * groups), ("u64", described), ("u64", described), ("u32", steps), ("u32", others)
    return Launch(name, cubin(product), 1, GROUP * groups, arguments, kernel=product.kernel, shared_bytes=SHARED_BYTES)


def _per_product(product: Product, groups: int) -> Microbenchmark:
    """Cycles of the SM for each product of a warpgroup."""
    name = f"wgmma.{product.name}.{groups}g"
    work = (LENGTHS[1] - LENGTHS[0]) * groups
    waited = {"chain": "each waited for", "flood": "none waited for", "two": "none waited for, two sets of accumulators in turn"}
    what = (
        f"cycles of the SM for each wgmma with {product.columns} columns, {product.kind}, "
        f"A in {'registers' if product.registers else 'shared memory'}, {waited[product.way]}, {groups} warpgroups"
    )

    def launches() -> list[Launch]:
        return [launch(f"{name}.{steps}", product, groups, steps) for steps in LENGTHS]

    def read(outputs: Outputs) -> list[Reading]:
        short, long = (outputs[f"{name}.{steps}"][:, ::2].max(axis=1).min() for steps in LENGTHS)
        return [Reading(name, float(int(long) - int(short)) / work, "cycles", what)]

    terms = ((1, f"{name}.{LENGTHS[1]}", None), (-1, f"{name}.{LENGTHS[0]}", None))
    return Microbenchmark(name, launches, read, ModelRun(name, terms, work))


def _issued(product: Product) -> Microbenchmark:
    """How long a warp takes to issue some products: until those before them leave room."""
    name = f"wgmma.{product.name}"
    what = f"cycles until a warp has issued {product.issued} wgmma with {product.columns} columns, with those of the clock"

    def read(outputs: Outputs) -> list[Reading]:
        return [Reading(name, float(outputs[name][:, ::2].max(axis=1).min()), "cycles", what)]

    return Microbenchmark(name, lambda: [launch(name, product, 1, 0)], read)


def _beside(product: Product) -> Microbenchmark:
    """What a warpgroup of products and one of other instructions take from each other, each alone and beside the other."""
    name = f"wgmma.{product.name}"
    short, long = 512, 2048
    products = 65536 // product.columns  # enough of them to last longer than the others
    enough = 32 * long  # of the others, to last longer than the products

    def launches() -> list[Launch]:
        pairs = [("alone", 0, short), ("alone", 0, long), ("both", products, short), ("both", products, long)]
        pairs += [("whole", LENGTHS[0], enough), ("whole", LENGTHS[1], enough)]
        return [launch(f"{name}.{which}.{steps}.{others}", product, 2, steps, others) for which, steps, others in pairs]

    def read(outputs: Outputs) -> list[Reading]:
        def others(which: str, steps: int) -> float:
            times = [int(outputs[f"{name}.{which}.{steps}.{n}"][:, 8::2].max(axis=1).min()) for n in (short, long)]
            return (times[1] - times[0]) / (long - short)

        taken = [int(outputs[f"{name}.whole.{n}.{enough}"][:, :8:2].max(axis=1).min()) for n in LENGTHS]
        about = f"{product.beside} of a warp in each sub-core"
        return [
            Reading(f"{name}.alone", others("alone", 0), "cycles", f"cycles for each {about}, alone"),
            Reading(f"{name}.others", others("both", products), "cycles", f"cycles for each {about}, beside wgmma"),
            Reading(
                f"{name}.products",
                (taken[1] - taken[0]) / (LENGTHS[1] - LENGTHS[0]),
                "cycles",
                f"cycles for each wgmma with {product.columns} columns beside {about}",
            ),
        ]

    return Microbenchmark(name, launches, read)


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for registers in (False, True):
        for columns in COLUMNS:
            yield _per_product(Product("f16", columns, "chain", registers), 1)
            for groups in (1, 2, 3, 4):
                if columns < 256 or groups < 3:  # the registers of more do not fit
                    yield _per_product(Product("f16", columns, "flood", registers), groups)
            if columns < 256:
                yield _per_product(Product("f16", columns, "two", registers), 1)
        for kind in list(TYPES)[1:]:
            for columns in (8, 64, 128, 256):
                yield _per_product(Product(kind, columns, "chain", registers), 1)
                yield _per_product(Product(kind, columns, "flood", registers), 1)
        for columns in (64, 256):
            for beside in _BESIDE:
                yield _beside(Product("f16", columns, "flood", registers, beside=beside))
    for columns in (64, 256):
        for issued in (1, 2, 3, 4, 6, 8, 12):
            yield _issued(Product("f16", columns, issued=issued))
    for columns in (8, 64, 256):
        yield _per_product(Product("f16", columns, "flood", plain=True), 1)
