# Draws the time of a layer over the number of elements, and the speed of the matrix products over their size.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

SIZES = [2**10, 2**16, 2**22, 2**26]
WAYS = {
    "eager": (plots.ORANGE, "o-"),
    "eager, CUDA graph": (plots.ORANGE, "o:"),
    "compiled network": (plots.PURPLE, "s-"),
    "ours": (plots.BLUE, "^-"),
    "ours, without autograd": (plots.GREEN, "v-"),
    "ours, CUDA graph": (plots.BLUE, "^:"),
}
PRODUCTS = {"Python": plots.LIGHT_QUIET, "C++": plots.GREEN, "torch, CPU": plots.PURPLE, "our kernel": plots.BLUE, "torch, GPU": plots.ORANGE}


def draw_op(axes, record):
    rows = dict(record.table("y = x² + b"))
    for name, (colour, style) in WAYS.items():
        axes.plot(SIZES, rows[name][0:8:2], style, color=colour, label=name)
    bound = 20 / record.number(r"a copy moves ([\d.]+) GB/s") / 1e3  # microseconds for each element
    axes.plot(SIZES, [size * bound for size in SIZES], "--", color=plots.LIGHT_INK, linewidth=1.2, label="bound: 20 bytes per element")
    axes.set_xscale("log", base=2)
    axes.set_xticks(SIZES, ["1 Ki", "64 Ki", "4 Mi", "64 Mi"])
    axes.set_xlabel("elements of x")
    plots.axis_of_decades(axes.yaxis, "µs for one layer, forward and backward")
    axes.set_ylim(1.5, 9000)
    axes.legend(fontsize=9, ncols=2, loc="upper left")


def draw_products(axes, record):
    points = {name: [] for name in PRODUCTS}
    for label, values in record.table("product of two"):
        if not label.isdigit():
            continue
        n = int(label)
        shown = [name for name in PRODUCTS if (name, n) not in missing(n)]
        for name, speed in zip(shown, values, strict=True):
            points[name].append((n, speed))
    for name, colour in PRODUCTS.items():
        axes.plot(*zip(*points[name]), "o-", color=colour, label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks([16, 64, 256, 1024, 4096], ["16", "64", "256", "1024", "4096"])
    axes.set_xlabel("n, for matrices of n × n")
    axes.set_yscale("log")
    axes.set_ylabel("GFLOP/s")
    axes.legend(fontsize=9)


def missing(n):
    """The cells that main.py leaves empty, because they would take too long."""
    most = {"Python": 64, "C++": 512, "torch, CPU": 1024}
    return {(name, n) for name, largest in most.items() if n > largest}


def draw(figure, record):
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
    draw_op(left, record)
    draw_products(right, record)


plots.main(draw, "Left: microseconds for one layer over the number of elements. Right: GFLOP/s of matrix products over their size", size=(11, 4.8))
