"""The model in PyTorch: to train it, and to compute token by token what the engine must compute."""

import math
import struct
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional


class Shape(NamedTuple):
    """As in model.hpp."""

    layers: int = 2
    width: int = 256
    hidden: int = 512
    heads: int = 4
    kv_heads: int = 2
    head: int = 64
    vocabulary: int = 128
    rotation: int = 10000

    def matrices(self) -> list[tuple[int, int]]:
        """Rows and columns of each matrix, in the order of the file."""
        of_layer = [
            ((self.heads + 2 * self.kv_heads) * self.head, self.width),
            (self.width, self.heads * self.head),
            (2 * self.hidden, self.width),
            (self.width, self.hidden),
        ]
        return [(self.vocabulary, self.width), *(of_layer * self.layers), (self.vocabulary, self.width)]


EPSILON = 1e-5


def normed(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON)


def turns(shape: Shape, count: int) -> tuple[Tensor, Tensor]:
    """The cosine and the sine of RoPE for each position and each pair."""
    angles = torch.arange(count, dtype=torch.float64)[:, None] * shape.rotation ** (torch.arange(shape.head // 2, dtype=torch.float64) * -2 / shape.head)
    return angles.cos().float(), angles.sin().float()


def turned(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    a, b = x.chunk(2, -1)
    return torch.cat([a * cosine - b * sine, a * sine + b * cosine], -1)


class Model(torch.nn.Module):
    """For training: all positions of several texts at once. The norms have no weights of their own, because those of the next product suffice."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        sizes = shape.matrices()
        scale = [0.5, *([1, (2 * shape.layers) ** -0.5] * 2 * shape.layers), 1]  # what is added to x begins smaller
        self.matrices = torch.nn.ParameterList(
            torch.randn(size) * factor / (math.sqrt(size[1]) if i else 1) for i, (size, factor) in enumerate(zip(sizes, scale))
        )

    def forward(self, tokens: Tensor) -> Tensor:
        s, matrices = self.shape, iter(self.matrices)
        batch, length = tokens.shape
        cosine, sine = turns(s, length)
        x = functional.embedding(tokens, next(matrices))
        for _ in range(s.layers):
            qkv = functional.linear(normed(x), next(matrices)).view(batch, length, -1, s.head).transpose(1, 2)
            q, k, v = qkv.split([s.heads, s.kv_heads, s.kv_heads], 1)
            q, k = turned(q, cosine, sine), turned(k, cosine, sine)
            group = s.heads // s.kv_heads
            o = functional.scaled_dot_product_attention(q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1), is_causal=True)
            x = x + functional.linear(o.transpose(1, 2).reshape(batch, length, -1), next(matrices))
            gate, up = functional.linear(normed(x), next(matrices)).chunk(2, -1)
            x = x + functional.linear(functional.silu(gate) * up, next(matrices))
        return functional.linear(normed(x), next(matrices))


# ---- token by token ----


def rounded(x: Tensor) -> Tensor:
    """To bfloat16, wherever the engine stores bfloat16."""
    return x.bfloat16().float()


def in_four_bits(matrix: Tensor) -> Tensor:
    """(q - 8) times the scale of each 128 neighbors in a row, as in lesson 04-36."""
    groups = matrix.view(matrix.shape[0], -1, 128)
    scale = rounded(groups.abs().amax(-1, keepdim=True) / 7)
    q = torch.where(scale > 0, groups / scale, 0).round().add(8).clamp(0, 15)
    return ((q - 8) * scale).view_as(matrix)


class Engine:
    """Rounds where the engine's fused kernels round. The sums are not in the same order, so the last bits may differ."""

    def __init__(self, shape: Shape, matrices: list[Tensor], four_bit: bool) -> None:
        self.shape = shape
        self.embeddings, *rest = [rounded(matrix) for matrix in matrices]
        self.rest = [in_four_bits(matrix) for matrix in rest] if four_bit else rest
        self.cosine, self.sine = turns(shape, 4096)
        self.keys: list[list[Tensor]] = [[] for _ in range(shape.layers)]
        self.values: list[list[Tensor]] = [[] for _ in range(shape.layers)]

    def product_of_norm(self, x: Tensor, matrix: Tensor) -> Tensor:
        return functional.linear(x, matrix) * torch.rsqrt(x.square().mean() + EPSILON)

    def logits(self, token: int) -> Tensor:
        """After this token, which comes after those of the earlier calls."""
        s, matrices = self.shape, iter(self.rest)
        x, position = self.embeddings[token], len(self.keys[0])
        for layer in range(s.layers):
            q, k, v = self.product_of_norm(x, next(matrices)).view(-1, s.head).split([s.heads, s.kv_heads, s.kv_heads])
            q, k = (rounded(turned(part, self.cosine[position], self.sine[position])) for part in (q, k))
            self.keys[layer].append(k)
            self.values[layer].append(rounded(v))
            keys, values = (torch.stack(kept, 1).repeat_interleave(s.heads // s.kv_heads, 0) for kept in (self.keys[layer], self.values[layer]))
            scores = (keys @ q[:, :, None]).squeeze(-1) / math.sqrt(s.head)
            weights = (scores - scores.amax(-1, keepdim=True)).exp()
            o = (rounded(weights)[:, None] @ values).squeeze(1) / weights.sum(-1, keepdim=True)
            x = rounded(x + functional.linear(rounded(o).flatten(), next(matrices)))
            gate, up = self.product_of_norm(x, next(matrices)).chunk(2)
            x = rounded(x + functional.linear(rounded(functional.silu(gate) * up), next(matrices)))
        return self.product_of_norm(x, next(matrices))


def hashed(x: Tensor) -> Tensor:
    """verify::hash() of 04-kernels/random.hpp, of 32 bits in an int64."""
    x = (x ^ x >> 16) * 0x7FEB352D & 0xFFFFFFFF
    x = (x ^ x >> 15) * 0x846CA68B & 0xFFFFFFFF
    return x ^ x >> 16


class Sampling(NamedTuple):
    temperature: float
    top_k: int
    seed: int


def chosen(logits: Tensor, sampling: Sampling, position: int) -> tuple[int, float]:
    """The next token, and by how much numbers would have to change for another one."""
    values, admitted = logits, torch.ones_like(logits, dtype=torch.bool)
    if sampling.temperature > 0:
        of_position = hashed(torch.tensor(sampling.seed + 0x9E3779B9 * position & 0xFFFFFFFF))
        bits = hashed(of_position + torch.arange(len(logits)) & 0xFFFFFFFF)
        uniform = ((bits >> 8).float() + 0.5) * 2.0**-24
        values = logits / sampling.temperature - (-uniform.log()).log()
        if 0 < sampling.top_k < len(logits):
            least, next_one = logits.topk(sampling.top_k + 1).values[-2:]
            admitted = logits >= least
    best = torch.where(admitted, values, -torch.inf).topk(2)
    token, margin = int(best.indices[0]), best.values[0] - best.values[1]
    if not admitted.all():  # this token could fall behind the top_k, or another one with a larger value rise to them
        rivals = logits[~admitted & (values > best.values[0])]
        margin = min(margin, logits[token] - next_one, *(least - rivals))
    return token, float(margin)


def generate(engine: Engine, prompt: list[int], count: int, sampling: Sampling) -> tuple[list[int], list[float]]:
    for token in prompt[:-1]:
        engine.logits(token)
    tokens, margins, last = [], [], prompt[-1]
    for position in range(len(prompt), len(prompt) + count):
        last, margin = chosen(engine.logits(last), sampling, position)
        tokens.append(last)
        margins.append(margin)
    return tokens, margins


# ---- the file ----


def write(path: str, shape: Shape, characters: list[str], matrices: list[Tensor]) -> None:
    """As model.hpp reads it."""
    codes = [ord(c) if c else 0 for c in characters]
    with open(path, "wb") as file:
        file.write(b"CUDALM1\n" + struct.pack(f"<{len(shape)}i", *shape) + struct.pack(f"<{len(codes)}i", *codes))
        for matrix in matrices:
            file.write(matrix.detach().bfloat16().contiguous().view(torch.int16).numpy().astype("<i2").tobytes())
