"""Draws what a terminal showed, read from standard input, as an SVG that is readable on light and dark pages.

The README's picture, on a machine without a GPU; run it twice, because the first run may print what it builds:

    L='02-context/03-stack 04-kernels/03-vector-add'
    script -qec "make run $L" /dev/null | PYTHONPATH=common python3 -m course picture "make run $L" > common/run.svg

script gives the programs a terminal. Without one, their two outputs would come in another order.
"""

import html
import sys

LINE, CHARACTER, MARGIN = 17, 7.85, 16  # pixels, for the 13-pixel font below


def svg(command, lines):
    """The picture of `$ command` followed by `lines`."""
    lines = [f"$ {command}"] + lines
    width = int(2 * MARGIN + CHARACTER * max(len(line) for line in lines))
    height = 2 * MARGIN + LINE * len(lines)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"  <title>A terminal: {html.escape(command)}</title>",
        "  <style>",
        "    rect { fill: #f6f8fa; stroke: #d1d9e0 }",
        "    text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }",
        "    @media (prefers-color-scheme: dark) { rect { fill: #151b23; stroke: #3d444d } text { fill: #e6edf3 } }",
        "  </style>",
        f'  <rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>',
    ]
    for number, line in enumerate(lines, start=1):
        if line:
            # Without textLength a browser's own monospace font would shift the columns' right ends.
            length = f' textLength="{CHARACTER * len(line):.0f}" lengthAdjust="spacing"'
            out.append(f'  <text x="{MARGIN}" y="{MARGIN - 4 + LINE * number}"{length} xml:space="preserve">{html.escape(line)}</text>')
    return "\n".join(out + ["</svg>"])


def main(words):
    if len(words) != 1:
        sys.exit("python3 -m course picture COMMAND < what it showed > picture.svg")
    print(svg(words[0], [line.rstrip() for line in sys.stdin.read().splitlines()]))
    return 0
