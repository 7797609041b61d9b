"""A block of GPT-2 in PyTorch: forward, backward and a step of AdamW, on the device and on the CPU from the same numbers.

torch_block.py [TOKENS] [float32|bfloat16] [WIDTH]
"""

from __future__ import annotations

import sys

import torch
import torch.nn.functional as F
from torch import nn

HEAD = 64
LIMITS = {torch.float32: 1e-4, torch.bfloat16: 4e-2}  # of the differences, as a part of the largest number


class Block(nn.Module):
    """Attention and a perceptron, each behind a layer norm."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries_keys_values, self.mixed = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, width = x.shape
        q, k, v = self.queries_keys_values(self.before(x)).split(width, dim=2)
        heads = (each.view(batch, tokens, width // HEAD, HEAD).transpose(1, 2) for each in (q, k, v))
        attended = F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).reshape(batch, tokens, width)
        x = x + self.mixed(attended)
        return x + self.down(F.gelu(self.up(self.between(x)), approximate="tanh"))


def step(block: Block, x: torch.Tensor, target: torch.Tensor) -> dict[str, torch.Tensor]:
    """What one step of training computes."""
    optimizer = torch.optim.AdamW(block.parameters(), lr=1e-2)
    out = block(x)
    loss = F.mse_loss(out.float(), target.float())
    loss.backward()
    found = {"out": out, "loss": loss} | {f"gradient of {name}": each.grad for name, each in block.named_parameters()}
    before = {name: each.detach().clone() for name, each in block.named_parameters()}
    optimizer.step()
    return found | {f"step of {name}": each - before[name] for name, each in block.named_parameters()}


def main(tokens: int = 128, dtype: torch.dtype = torch.float32, width: int = 768) -> int:
    """Compare a step; how many of its results differ."""
    torch.manual_seed(0)
    block, x, target = Block(width), torch.randn(1, tokens, width), torch.randn(1, tokens, width)
    answers = []
    for device, kind in (("cuda", dtype), ("cpu", torch.float32)):
        copy = Block(width)
        copy.load_state_dict({name: value.to(dtype).float() for name, value in block.state_dict().items()})
        copy.to(device, kind)
        given = [each.to(dtype).to(device, kind) for each in (x, target)]
        answers.append({name: value.detach().cpu().double() for name, value in step(copy, *given).items()})
    differing = 0
    for name, wanted in answers[1].items():
        if name.startswith(
            "step"
        ):  # AdamW's first step has the gradient's sign and one size: signs of gradients near zero may differ
            gradient = answers[1][name.replace("step", "gradient")].abs()
            clear = gradient > LIMITS[dtype] * gradient.max()
            worst = float((clear & (answers[0][name].sign() != wanted.sign())).any()) * 2
        else:
            worst = ((answers[0][name] - wanted).abs().max() / wanted.abs().max()).item() / LIMITS[dtype]
        differing += not worst <= 1
        print(f"{name}: {'agrees' if worst <= 1 else 'differs'} ({worst:.2g})", flush=True)
    return differing


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(main(*(getattr(torch, word) if word.startswith(("f", "b")) else int(word) for word in words)))
