# Draws the speed and the clock rate of every kernel, and for each product the fastest kernel next to cublasLt.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw_ladder(axes, rungs):
    names = [label.split()[0] for label, _ in rungs]
    axes.barh(names, [values[3] for _, values in rungs], height=0.65, color=plots.BLUE)
    for row, (_, (_, speed, clock, busy)) in enumerate(rungs):
        axes.annotate(
            f"{speed:.0f} TFLOP/s at {clock:.2f} GHz", (busy, row), (5, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK, fontsize=9
        )
    axes.set_xlim(0, 1.4)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("busy tensor cores")
    axes.grid(axis="y", visible=False)


def squares(products, transposed):
    rows = [(label.split(), values) for label, values in products]
    return [(int(words[0]), values) for words, values in rows if words[0] == words[4] and (words[5] == "t") == transposed]


def draw_sizes(axes, products, transposed):
    rows = squares(products, transposed)
    n = [side for side, _ in rows]
    axes.plot(n, [values[-2] for _, values in rows], "s--", color=plots.ORANGE, label="cublasLt")
    axes.plot(n, [values[-3] for _, values in rows], "o-", color=plots.BLUE, label="this lesson")
    axes.set_xscale("log", base=2)
    axes.set_xticks(n, labels=[str(side) for side in n], fontsize=8)
    axes.xaxis.set_minor_locator(plots.matplotlib.ticker.NullLocator())
    axes.set_ylim(0, 800)
    axes.set_xlabel("x · wᵀ, side" if transposed else "a × b, side of the matrices")
    axes.set_ylabel("TFLOP/s")
    axes.legend(loc="lower right", fontsize=9)


def draw(figure, record):
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1])
    draw_ladder(above.subplots(), record.table("kernel"))
    left, right = below.subplots(1, 2)
    draw_sizes(left, record.table("product"), False)
    draw_sizes(right, record.table("product"), True)


plots.main(draw, "Busy tensor cores and clock rate of every kernel; and the fastest kernel for each product, next to cublasLt", size=(7.4, 7))
