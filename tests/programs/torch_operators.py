"""PyTorch's own kernels: each operator on the device and on the CPU, from the same numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
import torch.nn.functional as F

Tensors = tuple[torch.Tensor, ...]
TOLERANCE = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def _gradient(function: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> Tensors:
    """A result with the gradients of what it depends on."""
    leaves = [each.detach().requires_grad_(each.is_floating_point()) for each in inputs]
    result = function(*leaves)
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    weights = torch.cos(1.7 * torch.arange(float(result.numel()))).to(result.device).reshape(result.shape).to(result.dtype)
    return result, *torch.autograd.grad(result, wanted, weights)


def _adamw(weights: torch.Tensor, gradient: torch.Tensor) -> Tensors:
    parameter = torch.nn.Parameter(weights.clone())
    optimizer = torch.optim.AdamW([parameter], lr=1e-2, weight_decay=0.1)
    for _ in range(3):
        parameter.grad = gradient
        optimizer.step()
    return (parameter.detach(),)


def _attention(backend: torch.nn.attention.SDPBackend, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Tensors:
    if not q.is_cuda:
        backend = torch.nn.attention.SDPBackend.MATH
    with torch.nn.attention.sdpa_kernel(backend):
        return _gradient(lambda *given: F.scaled_dot_product_attention(*given, is_causal=True), q, k, v)


def _dropout(a: torch.Tensor) -> Tensors:
    """What holds whatever a generator draws: each number is dropped or doubled, half are, a seed repeats it, gradients too."""
    torch.manual_seed(5)
    y, gradient = _gradient(lambda x: F.dropout(x, 0.5), a)
    torch.manual_seed(5)
    same = torch.equal(F.dropout(a, 0.5), y)
    dropped = y == 0
    kept = torch.equal(y[~dropped], 2 * a[~dropped]) and torch.equal(gradient == 0, dropped)
    return (torch.tensor([same, kept, abs(dropped.float().mean().item() - 0.5) < 0.05]),)


def _normal(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def _whole(most: int, *shape: int) -> torch.Tensor:
    return torch.randint(most, shape, generator=torch.Generator().manual_seed(most))


FLASH, EFFICIENT = torch.nn.attention.SDPBackend.FLASH_ATTENTION, torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION
QKV = [_normal(1, 2, 128, 64, dtype=torch.bfloat16) + step for step in (0, 0.125, 0.25)]
QKV32 = [each.float() for each in QKV]

OPERATORS: dict[str, tuple[Callable[..., Tensors | torch.Tensor], list[torch.Tensor]]] = {
    "elementwise": (
        lambda a, b: (torch.exp(-a.abs()) * b + torch.sin(a), torch.where(a > b, a, b)),
        [_normal(37, 65), _normal(37, 65) + 1],
    ),
    "casts": (lambda a: (a.half().float(), a.to(torch.bfloat16), a.int(), (a * 8).to(torch.int8)), [_normal(1000)]),
    "transposed copy": (lambda a: (a.t().contiguous(), a[::2, 1::3].contiguous()), [_normal(65, 130)]),
    "sums": (lambda a: (a.sum(), a.sum(0), a.mean(1), a.var(1), a.amax(0), a.argmin(1)), [_normal(70, 300)]),
    "norm": (lambda a: (torch.linalg.vector_norm(a), a.norm(dim=1)), [_normal(70, 300)]),
    "softmax": (lambda a: _gradient(lambda x: torch.softmax(x, -1), a), [_normal(20, 500)]),
    "long softmax": (lambda a: _gradient(lambda x: torch.softmax(x, -1), a), [_normal(4, 5000)]),
    "softmax bf16": (lambda a: _gradient(lambda x: torch.softmax(x, -1), a), [_normal(20, 500, dtype=torch.bfloat16)]),
    "layer norm": (
        lambda a, g, b: _gradient(lambda x, y, z: F.layer_norm(x, (256,), y, z), a, g, b),
        [_normal(40, 256), _normal(256), _normal(256) + 1],
    ),
    "group norm": (lambda a: _gradient(lambda x: F.group_norm(x, 4), a), [_normal(2, 8, 6, 6)]),
    "batch norm": (lambda a: _gradient(lambda x: F.batch_norm(x, None, None, training=True), a), [_normal(4, 8, 6, 6)]),
    "gelu": (lambda a: _gradient(lambda x: F.gelu(x, approximate="tanh") + F.silu(x), a), [_normal(1000)]),
    "embedding": (lambda w, i: _gradient(lambda x, y: F.embedding(y, x), w, i), [_normal(50, 64), _whole(50, 4, 9)]),
    "sort": (lambda a: (*torch.sort(a, stable=True), *torch.sort(a[:, :100], descending=True, stable=True)), [_normal(3, 3000)]),
    "top-k": (lambda a: tuple(torch.topk(a, 5)), [_normal(3, 3000)]),
    "cumulative sum": (lambda a: (a.cumsum(1), a.cumsum(0), a.flatten().cumsum(0)), [_normal(30, 300)]),
    "index": (
        lambda a, i: (a[i], a.index_select(0, i), a.index_add(0, i, a[: len(i)]), a.gather(0, i[:, None])),
        [_normal(50, 20), _whole(50, 20)],
    ),
    "scatter": (
        lambda a, i: (a.scatter(0, i[None, :], 3.0), a.scatter_add(0, i[None, :], a[:1])),
        [_normal(50, 20), _whole(50, 20)],
    ),
    "masked": (lambda a: (a.masked_fill(a > 0, 1.0), a[a > 0.5], torch.nonzero(a > 1), torch.tril(a)), [_normal(60, 60)]),
    "unique": (lambda i: tuple(torch.unique(i, return_counts=True)), [_whole(40, 500)]),
    "cat": (lambda a, b: (torch.cat([a, b], 1), torch.stack([a, a]), a.repeat(2, 3)), [_normal(30, 20), _normal(30, 7)]),
    "pooling": (lambda a: _gradient(lambda x: F.max_pool2d(x, 3, 2, 1) + F.avg_pool2d(x, 3, 2, 1), a), [_normal(2, 3, 14, 14)]),
    "interpolation": (
        lambda a: _gradient(lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), a),
        [_normal(2, 3, 7, 7)],
    ),
    "depthwise convolution": (
        lambda a, w: _gradient(lambda x, y: F.conv2d(x, y, padding=1, groups=8), a, w),
        [_normal(2, 8, 9, 9), _normal(8, 1, 3, 3)],
    ),
    "cross entropy": (lambda a, t: _gradient(lambda x, y: F.cross_entropy(x, y), a, t), [_normal(32, 1000), _whole(1000, 32)]),
    "products": (
        lambda a, b: (a @ b, b.t() @ a.t(), torch.mv(a, b[:, 0]), torch.dot(a[0], b[:, 0])),
        [_normal(65, 130), _normal(130, 33)],
    ),
    "products bf16": (
        lambda a, b: _gradient(torch.matmul, a, b),
        [_normal(3, 40, 72, dtype=torch.bfloat16), _normal(3, 72, 24, dtype=torch.bfloat16)],
    ),
    "linear fp16": (
        lambda a, w, b: _gradient(F.linear, a, w, b),
        [_normal(50, 64, dtype=torch.float16), _normal(40, 64, dtype=torch.float16), _normal(40, dtype=torch.float16)],
    ),
    "convolution": (
        lambda a, w: _gradient(lambda x, y: F.conv2d(x, y, stride=2, padding=3), a, w),
        [_normal(2, 3, 24, 24), _normal(16, 3, 7, 7)],
    ),
    "dropout": (_dropout, [_normal(4000)]),
    "AdamW": (_adamw, [_normal(500), _normal(501)[:500]]),
    "flash attention": (lambda *qkv: _attention(FLASH, *qkv), QKV),
    "memory-efficient attention": (lambda *qkv: _attention(EFFICIENT, *qkv), QKV),
    "memory-efficient attention fp32": (lambda *qkv: _attention(EFFICIENT, *qkv), QKV32),
}


def difference(got: torch.Tensor, wanted: torch.Tensor) -> float:
    """The largest difference, as a part of what is tolerated for the type; of whole numbers any is too much."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return float("inf")
    if not wanted.is_floating_point():
        return float(not torch.equal(got, wanted)) * 2
    scale = max(1.0, wanted.abs().max().item())
    worst = (got.double() - wanted.double()).abs().max().item() / (TOLERANCE[wanted.dtype] * scale)
    return worst if worst == worst else float("inf")


def main(wanted: list[str]) -> None:
    """Compare the operators, or those that are named."""
    for name, (function, inputs) in OPERATORS.items():
        if wanted and name not in wanted:
            continue
        try:
            answers = [function(*(each.to(device) for each in inputs)) for device in ("cuda", "cpu")]
            got, expected = ((each,) if isinstance(each, torch.Tensor) else each for each in answers)
            worst = max(difference(one.cpu(), other) for one, other in zip(got, expected, strict=True))
        except RuntimeError as problem:
            print(f"{name}: {str(problem).splitlines()[0]}", flush=True)
            torch.cuda.synchronize()
            continue
        print(f"{name}: {'agrees' if worst <= 1 else 'differs'} ({worst:.2g})", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
