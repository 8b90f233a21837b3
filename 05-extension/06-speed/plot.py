# Draws what main.py measured: op.png, op.svg, product.png and product.svg beside the figures. Also by hand:
#   python3 plot.py figures.json
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no window
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {"eager": "#9a5b00", "torch.compile": "#8250df", "ours": "#1f5fb0", "ours, direct": "#1a7f37"}


def lines(axes, rows: dict, of) -> None:
    """A line for each way, with the quartiles as a band; `of` makes a height from a length and seconds."""
    for name, points in rows.items():
        lengths = [point[0] for point in points]
        low, middle, high = ([of(point[0], point[i]) for point in points] for i in (1, 2, 3))
        (line,) = axes.plot(lengths, middle, marker="o", label=name, color=COLOURS.get(name))
        axes.fill_between(lengths, low, high, alpha=0.25, color=line.get_color())


def plot(figures: pathlib.Path) -> list[str]:
    """Returns the files that it wrote, as paths from the current folder where they lie below it."""
    measured = json.loads(figures.read_text(encoding="utf-8"))
    plt.rcParams |= {"svg.hashsalt": "speed", "svg.fonttype": "none"}  # the same picture from the same figures, with text as text
    written = []

    def save(figure, name: str) -> None:
        figure.tight_layout()
        for kind, more in (("png", {"dpi": 120}), ("svg", {"metadata": {"Date": None}})):
            path = figures.with_name(f"{name}.{kind}")
            figure.savefig(path, **more)
            written.append(path.name)
        plt.close(figure)

    figure, axes = plt.subplots(figsize=(7.5, 4.5))
    axes.set(xscale="log", yscale="log", xlabel="elements of x", ylabel="microseconds for a layer, both ways")
    axes.set_title(f"y = x² + b on {measured['device']}, PyTorch {measured['pytorch']}")
    lines(axes, measured["op"], lambda _, seconds: seconds * 1e6)
    ends = [points[0] for points in (measured["op"]["ours"][0], measured["op"]["ours"][-1])]
    fastest = [n * measured["bytes an element"] / measured["bytes a second"] * 1e6 for n in ends]
    axes.plot(ends, fastest, "k--", label=f"the memory's limit, {measured['bytes a second'] / 1e9:.0f} GB/s")
    axes.set_ylim(bottom=max(min(fastest), 0.5))
    axes.grid(alpha=0.3)
    axes.legend()
    save(figure, "op")

    figure, axes = plt.subplots(figsize=(7.5, 4.5))
    axes.set(xscale="log", yscale="log", xlabel="n", ylabel="GFLOP/s")
    axes.set_title(f"n x n times n x n, {measured['device']}")
    lines(axes, measured["product"], lambda n, seconds: 2e-9 * n**3 / seconds)
    axes.grid(alpha=0.3)
    axes.legend()
    save(figure, "product")
    return written


if __name__ == "__main__":
    print(" ".join(plot(pathlib.Path(sys.argv[1]))))
