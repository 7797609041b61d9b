"""ResNet's first layers in PyTorch, forward and backward, on the device and on the CPU from the same numbers.

torch_layers.py [SIZE]
"""

from __future__ import annotations

import sys

import torch
from torch import nn

LIMIT = 1e-4  # of the differences, as a part of the largest number


class Layers(nn.Module):
    """The stem and a basic block."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        self.first = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        return torch.relu(self.second(self.first(x)) + x)


def step(device: str, size: int) -> dict[str, torch.Tensor]:
    """The output and all gradients."""
    torch.manual_seed(0)
    layers, x = Layers(), torch.randn(1, 3, size, size)
    layers.to(device)
    out = layers(x.to(device))
    out.square().mean().backward()
    return {"out": out.detach()} | {f"gradient of {name}": each.grad for name, each in layers.named_parameters()}


def main(size: int = 64) -> int:
    """Compare them; how many differ."""
    got, differing = step("cuda", size), 0
    for name, wanted in step("cpu", size).items():
        worst = ((got[name].cpu() - wanted).abs().max() / wanted.abs().max()).item() / LIMIT
        differing += not worst <= 1
        print(f"{name}: {'agrees' if worst <= 1 else 'differs'} ({worst:.2g})", flush=True)
    return differing


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
