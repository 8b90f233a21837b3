# Draws the cycles of an instruction over its number of columns, next to what both limits allow, and the products.
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw_cycles(axes, rows):
    n = range(8, 257, 8)
    axes.plot(n, [k / 2 for k in n], "--", color=plots.ORANGE, label="tensor cores")
    axes.plot(n, [16 + k / 4 for k in n], ":", color=plots.GREEN, label="shared memory, for a and b")
    for where, marker, colour, name in (("shared memory K-major", "o", plots.BLUE, "measured"), ("registers", "^", plots.PURPLE, "measured, a in registers")):
        points = [(int(re.search(r"n(\d+)k", label)[1]), values[0]) for label, values in rows if where in label]
        axes.plot(*zip(*points), marker, color=colour, label=name)
    axes.set_xticks([16, 64, 128, 256])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("columns n")
    axes.set_ylabel("cycles of one instruction")
    axes.legend(loc="upper left", fontsize=8)


def draw_products(axes, rungs):
    names = [label.split()[0] for label, _ in rungs]
    axes.barh(names, [values[2] for _, values in rungs], height=0.65, color=plots.BLUE)
    for row, (_, (speed, clock, busy)) in enumerate(rungs):
        axes.annotate(
            f"{speed:.0f} TFLOP/s\nat {clock:.2f} GHz", (busy, row), (5, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK, fontsize=9
        )
    axes.set_xlim(0, 1)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("busy tensor cores")
    axes.grid(axis="y", visible=False)


def draw(figure, record):
    left, right = figure.subplots(1, 2, width_ratios=[1.2, 1])
    draw_cycles(left, record.table("instruction"))
    draw_products(right, record.table("kernel"))


plots.main(draw, "Cycles of an instruction over its number of columns; and how busy each product keeps the tensor cores", size=(7.4, 3.8))
