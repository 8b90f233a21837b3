"""Draws what a terminal showed, read from standard input, as an SVG that is readable on light and dark pages.

The README's picture, on a machine without a GPU; run it twice, because the first run may print what it builds:

    L='02-context/03-current 04-kernels/03-vector-add'
    script -qec "make run $L" /dev/null | PYTHONPATH=common python3 -m course picture "make run $L" > common/run.svg

script gives the programs a terminal. Without one, their two outputs would come in another order.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Sequence

LINE, CHARACTER, MARGIN = 17, 7.85, 16  # pixels, for the 13-pixel font below
Span = tuple[str, str]  # a text, and one of COLORS, "strong", or nothing
Line = str | list[Span]

COLORS = {"good": ("#1a7f37", "#3fb950"), "bad": ("#cf222e", "#f85149"), "note": ("#0969da", "#58a6ff"), "quiet": ("#59636e", "#9198a1")}


def spans(line: Line) -> list[Span]:
    """A line as [(text, class)]; a string has no class."""
    return [(line, "")] if isinstance(line, str) else [span for span in line if span[0]]


def screen(title: str, lines: Sequence[Line]) -> str:
    """The picture of lines, each a string or [(text, one of COLORS, strong, or nothing)]."""
    texts = ["".join(text for text, _ in spans(line)).rstrip() for line in lines]
    width = int(2 * MARGIN + CHARACTER * max(len(text) for text in texts))
    height = 2 * MARGIN + LINE * len(lines)
    used = {name for line in lines for _, name in spans(line)}
    light, dark = (" ".join(f".{name} {{ fill: {color[which]} }}" for name, color in COLORS.items() if name in used) for which in (0, 1))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"  <title>{html.escape(title)}</title>",
        "  <style>",
        "    rect { fill: #f6f8fa; stroke: #d1d9e0 }",
        "    text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }",
        *([f"    {light} .strong {{ font-weight: bold }}"] if used - {""} else []),
        "    @media (prefers-color-scheme: dark) { rect { fill: #151b23; stroke: #3d444d } text { fill: #e6edf3 }" + (f" {dark}" if dark else "") + " }",
        "  </style>",
        f'  <rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>',
    ]
    for number, (line, text) in enumerate(zip(lines, texts), start=1):
        if text:
            # Without textLength a browser's own monospace font would shift the columns' right ends.
            length = f' textLength="{CHARACTER * len(text):.0f}" lengthAdjust="spacing"'
            out.append(f'  <text x="{MARGIN}" y="{MARGIN - 4 + LINE * number}"{length} xml:space="preserve">{inner(line, len(text))}</text>')
    return "\n".join(out + ["</svg>"])


def inner(line: Line, length: int) -> str:
    """The spans of a line, up to its last character that is not a space."""
    out = ""
    for text, name in spans(line):
        text, length = text[:length], max(0, length - len(text))
        if text:
            out += f'<tspan class="{name}">{html.escape(text)}</tspan>' if name else html.escape(text)
    return out


def svg(command: str, lines: Sequence[str]) -> str:
    """The picture of `$ command` followed by `lines`."""
    return screen(f"A terminal: {command}", [f"$ {command}", *lines])


def main(words: Sequence[str]) -> int:
    if len(words) != 1:
        sys.exit("python3 -m course picture COMMAND < what it showed > picture.svg")
    print(svg(words[0], [line.rstrip() for line in sys.stdin.read().splitlines()]))
    return 0
