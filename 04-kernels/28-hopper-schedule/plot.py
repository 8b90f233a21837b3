# Draws the speed of every rung, the rungs on the roofline, and the chosen kernels for each size.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

NAMED = {"warpgroup": (-6, -12), "tma": (7, -8), "multistage": (-4, -12), "rasterized": (7, -6), "cluster": (-10, 12)}  # where


def draw_ladder(axes, rungs, peak):
    names = [name for name, _ in rungs]
    axes.barh(
        names,
        [speed for _, (_, speed, _) in rungs],
        height=0.65,
        color=[plots.ORANGE if name in ("ping_pong", "keep_a", "stream_k") else plots.BLUE for name in names],
    )
    axes.axvline(peak, color=plots.LIGHT_INK)
    axes.annotate(f"peak {peak:.0f}", (peak, -0.9), (-6, 0), textcoords="offset points", ha="right", va="center")
    for row, (_, (_, speed, _)) in enumerate(rungs):
        axes.annotate(f"{speed:.0f}", (speed, row), (5, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK)
    axes.set_ylim(len(names) - 0.5, -1.4)
    axes.set_xlabel("TFLOP/s")
    axes.grid(axis="y", visible=False)


def draw_sizes(axes, sizes):
    n = [int(label.split()[0]) for label, _ in sizes]
    ours, library = ([values[column] for _, values in sizes] for column in (0, 1))
    axes.plot(n, library, "s--", color=plots.ORANGE, label="cublasLt, best algorithm")
    axes.plot(n, ours, "o-", color=plots.BLUE, label="this lesson")
    axes.set_xscale("log", base=2)
    axes.set_xticks(n, labels=[str(side) for side in n])
    axes.xaxis.set_minor_locator(plots.matplotlib.ticker.NullLocator())
    axes.set_ylim(bottom=0)
    axes.set_xlabel("side of the matrices")
    axes.set_ylabel("TFLOP/s")
    axes.legend(loc="lower right")


def draw_roofline(axes, rungs, peak, bandwidth):
    """bandwidth in TB/s. Over the operations per byte of device memory, which a profiler has counted."""
    left, right, ridge = 50, 2000, peak / bandwidth
    axes.plot([left, ridge, right], [left * bandwidth, peak, peak], color=plots.LIGHT_INK)
    axes.axvline(ridge, color=plots.LIGHT_QUIET, linestyle=":")
    axes.annotate(f"{bandwidth:.1f} TB/s\n× intensity", (100, 100 * bandwidth), (-10, 10), textcoords="offset points", ha="right", fontsize=9)
    speeds = {name: speed for name, (_, speed, _) in rungs}
    for name, intensity in counted():
        axes.plot(intensity, speeds[name], "o", color=plots.BLUE)
        if name in NAMED:
            axes.annotate(name, (intensity, speeds[name]), NAMED[name], textcoords="offset points", va="center", fontsize=9)
    axes.set_xlim(left, right)
    axes.set_ylim(150, 1.3 * peak)
    plots.axis_of_decades(axes.xaxis, "FLOP per byte of device memory")
    plots.axis_of_decades(axes.yaxis, "TFLOP/s")


def counted():
    """[(kernel, FLOP per byte)]: h200-ncu.csv has the bytes that device memory transfers, for 8192 x 8192."""
    lines = (pathlib.Path(__file__).parent / "h200-ncu.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if not line.startswith("#")]
    column = {name: number for number, name in enumerate(rows[0])}
    return [(row[0], 2 * 8192**3 / (1e9 * (float(row[column["dram_read_GB"]]) + float(row[column["dram_written_GB"]])))) for row in rows[1:]]


def draw(figure, record):
    above, below = figure.subfigures(2, 1, height_ratios=[1.15, 1])
    peak = record.number(r"peak ([\d.]+) TFLOP/s")
    rungs = [(label.split()[0], values) for label, values in record.table("kernel")]
    draw_ladder(above.subplots(), rungs, peak)
    left, right = below.subplots(1, 2)
    draw_roofline(left, rungs, peak, record.number(r", (\d+) GB/s") / 1000)
    draw_sizes(right, record.table("n "))


plots.main(draw, "Speed of every kernel of the ladder; the same on a roofline; and the best kernel for each size, next to cublasLt", size=(7.4, 8))
