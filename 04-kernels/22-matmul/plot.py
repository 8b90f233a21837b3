# Draws the speed of every rung, and the rungs below the roofline of shared memory.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

# The passes of the L1 cache and shared memory in each kernel, for a product of 256 x 256 floats, as ncu counts them on
# an H200: l1tex__data_pipe_lsu_wavefronts.sum, with --profile. At this size, all tiles of `balanced` are shared. For
# 4096 x 4096 floats, it takes 1.005 times the passes of `prefetched`.
PASSES = {
    "naive": 17370640,
    "coalesced": 1052672,
    "tiled": 858176,
    "register_1d": 388624,
    "register_2d": 203461,
    "vectorized": 188913,
    "warp_tiled": 123438,
    "double_buffered": 120812,
    "larger": 93593,
    "prefetched": 93636,
    "balanced": 93636 * 1.005,
}
FLOP = 2 * 256**3


def draw(figure, record):
    above, below = figure.subplots(2, 1)
    rows = [(label.split()[0], values) for label, values in record.table("kernel")]
    peak = record.number(r"peak (\d+) GFLOP/s")
    passes_per_second = record.number(r"(\d+) multiprocessors") * record.number(r"at (\d+) MHz") * 1e6
    bars(above, rows, peak)
    roofline(below, [(name, FLOP / PASSES[name], values[-2]) for name, values in rows if name in PASSES], peak, passes_per_second)


def bars(axes, rows, peak):
    names = [name for name, _ in rows]
    speeds = [values[-2] for _, values in rows]
    colours = [plots.ORANGE if name.startswith("(") else plots.BLUE for name in names]
    axes.barh(names, speeds, color=colours, height=0.7)
    axes.axvline(peak, color=plots.LIGHT_INK)
    axes.annotate(f"peak {peak:.0f}", (peak, -1.1), (-6, 0), textcoords="offset points", ha="right", va="center")
    for row, speed in enumerate(speeds):
        inside = speed > 0.6 * peak
        axes.annotate(
            f"{speed:.0f}",
            (speed, row),
            (-5 if inside else 5, 0),
            textcoords="offset points",
            fontsize=9,
            ha="right" if inside else "left",
            va="center",
            color="white" if inside else plots.LIGHT_INK,
        )
    axes.set_ylim(len(names) - 0.5, -1.6)
    axes.set_xlabel("GFLOP/s")
    axes.grid(axis="y", visible=False)


def roofline(axes, rows, peak, passes_per_second):
    left, right, ridge = 1, 2500, peak / (passes_per_second / 1e9)
    axes.plot([left, ridge, right], [left * passes_per_second / 1e9, peak, peak], color=plots.LIGHT_INK)
    axes.annotate("one pass per clock cycle", (40, 40 * passes_per_second / 1e9), (-8, 6), textcoords="offset points", ha="right")
    axes.annotate(f"{peak:.0f} GFLOP/s", (right, peak), (0, 6), textcoords="offset points", ha="right")
    lowest = None
    for name, intensity, speed in sorted(rows, key=lambda row: -row[2]):
        axes.plot(intensity, speed, "o", color=plots.BLUE)
        if intensity < 150:
            axes.annotate(name, (intensity, speed), (8, 0), textcoords="offset points", va="center", fontsize=9)
            continue
        lowest = speed if lowest is None else lowest / 1.35  # the labels of points that are close to each other
        axes.annotate(
            name,
            (intensity, speed),
            (600, lowest),
            va="center",
            fontsize=9,
            arrowprops={"arrowstyle": "-", "relpos": (0, 0.5), "color": plots.LIGHT_QUIET, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 3},
        )
    axes.set_xlim(left, right)
    axes.set_ylim(300, 2 * peak)
    plots.axis_of_decades(axes.xaxis, "FLOP per pass of the L1 cache and shared memory")
    plots.axis_of_decades(axes.yaxis, "GFLOP/s")
    axes.yaxis.set_major_locator(plots.matplotlib.ticker.LogLocator())


plots.main(draw, "Speed of every kernel of the product ladder, and the kernels on the roofline of shared memory", size=(7.4, 8.4))
