"""Trains the model on the texts of this course, one character after the other, and writes it to a file.

python3 train.py STEPS FILE   also writes FILE.tokens: what the model writes, computed in PyTorch
"""

import math
import pathlib
import re
import sys
import time

import torch
from torch.nn import functional

import model

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATCH, LENGTH = 4, 256
RATE = 4e-3
PROMPT = "The kernel "
WAYS = [model.Sampling(0, 0, 0), model.Sampling(0.7, 20, 1)]
COUNT = 48  # tokens of each reply


def prose(text: str) -> str:
    """The paragraphs of a README, without code, tables and links."""
    text = re.sub(r"^```.*?^```|<!--.*?-->|<[^>\n]*>|!\[[^\]]*\]\([^)]*\)", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "").replace("`", "")
    return "\n".join(line for line in text.splitlines() if re.match(r"\w", line) and len(line) > 60)


def corpus() -> tuple[list[str], torch.Tensor]:
    """The character of each token, and all texts as tokens."""
    text = "\n".join(prose(path.read_text(encoding="utf-8")) for path in sorted(ROOT.glob("0*/*/README.md")))
    counts = {c: text.count(c) for c in sorted(set(text))}
    characters = [c for c, count in counts.items() if count >= 10][: model.Shape().vocabulary]
    token = {c: i for i, c in enumerate(characters)}
    padded = characters + [""] * (model.Shape().vocabulary - len(characters))
    return padded, torch.tensor([token[c] for c in text if c in token])


def train(tokens: torch.Tensor, steps: int) -> model.Model:
    torch.set_num_threads(1)  # two need four times as much processor time if other programs are running
    torch.manual_seed(0)
    made = model.Model(model.Shape())
    optimizer = torch.optim.AdamW(made.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.05)
    start = time.monotonic()
    for step in range(steps):
        rate = RATE * min(1, (step + 1) / 40) * (0.55 + 0.45 * math.cos(math.pi * step / steps))
        for group in optimizer.param_groups:
            group["lr"] = rate
        begins = torch.randint(len(tokens) - LENGTH - 1, (BATCH, 1))
        texts = tokens[begins + torch.arange(LENGTH + 1)]
        loss = functional.cross_entropy(made(texts[:, :-1]).flatten(0, 1), texts[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49 or step == steps - 1:
            print(f"step {step + 1:4} of {steps}: loss {loss.item():.2f}, {time.monotonic() - start:.0f} s", flush=True)
    return made


def write_tokens(path: str, shape: model.Shape, characters: list[str], matrices: list[torch.Tensor]) -> None:
    """For each way: four_bit temperature top_k seed, then the prompt, the reply and the margins in a line each."""
    prompt = [characters.index(c) for c in PROMPT]
    with open(path, "w", encoding="utf-8") as file:
        for four_bit in (False, True):
            for way in WAYS:
                tokens, margins = model.generate(model.Engine(shape, matrices, four_bit), prompt, COUNT, way)
                print(int(four_bit), *way, len(prompt), len(tokens), file=file)
                for numbers in (prompt, tokens, [f"{margin:.4f}" for margin in margins]):
                    print(*numbers, file=file)


def main() -> None:
    steps, path = int(sys.argv[1]), sys.argv[2]
    characters, tokens = corpus()
    matrices = [matrix.detach() for matrix in train(tokens, steps).matrices]
    with torch.inference_mode():
        write_tokens(path + ".tokens", model.Shape(), characters, matrices)
    model.write(path, model.Shape(), characters, matrices)


if __name__ == "__main__":
    main()
