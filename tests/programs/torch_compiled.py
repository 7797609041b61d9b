"""A function that torch.compile makes Triton kernels of, on the device beside the CPU."""

from __future__ import annotations

import sys

import torch
import torch.nn.functional as F


def layers(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Pointwise work and reductions, which become one kernel."""
    return F.layer_norm(F.gelu(x) * 2 + torch.softmax(x, -1), x.shape[-1:], weight, bias)


def main() -> int:
    """Compare it; whether it differs."""
    torch.manual_seed(0)
    given = torch.randn(64, 256), torch.randn(256), torch.randn(256)
    got = torch.compile(layers)(*(each.to("cuda") for each in given)).cpu()
    worst = (got - layers(*given)).abs().max().item() / 2e-5
    print(f"compiled: {'agrees' if worst <= 1 else 'differs'} ({worst:.2g})")
    return int(worst > 1)


if __name__ == "__main__":
    sys.exit(main())
