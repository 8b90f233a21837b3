# Draws the speed of every rung, what its warps wait for, and the fastest kernel for each size.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

# The columns of h200-ncu.csv that are drawn, what they mean, and their colours.
STALLS = [
    ("stall_mio_throttle", "queue of shared-memory instructions", plots.ORANGE),
    ("stall_short_scoreboard", "data from shared memory", plots.RED),
    ("stall_long_scoreboard", "data from global memory", plots.PURPLE),
    ("stall_barrier", "barrier", plots.GREEN),
    ("stall_math_pipe_throttle", "tensor core", plots.BLUE),
]


def draw_ladder(axes, rungs, most):
    names = [name for name, _ in rungs]
    axes.barh(names, [values[0] for _, values in rungs], height=0.65, color=plots.BLUE)
    axes.axvline(most, color=plots.LIGHT_INK)
    axes.annotate(f"mma alone {most:.0f}", (most, -0.9), (-6, 0), textcoords="offset points", ha="right", va="center")
    for row, (_, (speed, clock, _)) in enumerate(rungs):
        axes.annotate(f"{speed:.0f}, at {clock:.2f} GHz", (speed, row), (5, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK, fontsize=9)
    axes.set_xlim(right=1.12 * most)
    axes.set_ylim(len(names) - 0.5, -1.4)
    axes.set_xlabel("TFLOP/s")
    axes.grid(axis="y", visible=False)


def draw_stalls(axes):
    lines = (pathlib.Path(__file__).parent / "h200-ncu.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if not line.startswith("#")]
    column = {name: number for number, name in enumerate(rows[0])}
    names = [row[0] for row in rows[1:]]
    left = [0.0] * len(names)
    for stall, meaning, colour in STALLS:
        widths = [float(row[column[stall]]) for row in rows[1:]]
        axes.barh(names, widths, left=left, height=0.65, color=colour, label=meaning)
        left = [before + width for before, width in zip(left, widths)]
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("cycles that a warp waits per instruction")
    axes.grid(axis="y", visible=False)
    axes.legend(loc="lower right", fontsize=8.5)


def draw_sizes(axes, sizes):
    n = [int(label.split()[0]) for label, _ in sizes]
    ours, library = ([values[column] for _, values in sizes] for column in (-3, -2))
    axes.plot(n, library, "s--", color=plots.ORANGE, label="cublasLt, best algorithm")
    axes.plot(n, ours, "o-", color=plots.BLUE, label="this lesson")
    axes.set_xscale("log", base=2)
    axes.set_xticks(n, labels=[str(side) for side in n], fontsize=9)
    axes.xaxis.set_minor_locator(plots.matplotlib.ticker.NullLocator())
    axes.set_ylim(bottom=0)
    axes.set_xlabel("side of the matrices")
    axes.set_ylabel("TFLOP/s")
    axes.legend(loc="lower right", fontsize=9)


def draw(figure, record):
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1])
    rungs = [(label.split()[0], values) for label, values in record.table("kernel")]
    draw_ladder(above.subplots(), rungs, record.number(r"mma instructions alone: ([\d.]+)"))
    left, right = below.subplots(1, 2, width_ratios=[1.35, 1])
    draw_stalls(left)
    draw_sizes(right, record.table("n "))


plots.main(draw, "Speed and clock rate of every kernel; what its warps wait for; and the fastest kernel for each size, next to cublasLt", size=(7.4, 8))
