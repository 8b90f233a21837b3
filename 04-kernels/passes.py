# What the plots of the FP32 products share: the speed of every rung, and the rungs on the roofline of shared memory.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import plots  # noqa: E402

FLOP = 2 * 256**3  # of the product for which passes are counted


def draw(figure, record, passes, left):
    """`passes`: of the L1 cache and shared memory, for each kernel, for a product of 256 x 256 floats. `left`: where the roofline begins."""
    above, below = figure.subplots(2, 1)
    rows = [(label.split()[0], values) for label, values in record.table("kernel")]
    peak = record.number(r"peak (\d+) GFLOP/s")
    passes_per_second = record.number(r"(\d+) multiprocessors") * record.number(r"at (\d+) MHz") * 1e6
    bars(above, rows, peak)
    roofline(below, [(name, FLOP / passes[name], values[-2]) for name, values in rows if name in passes], peak, passes_per_second, left)


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


def roofline(axes, rows, peak, passes_per_second, left):
    right, ridge = 2500, peak / (passes_per_second / 1e9)
    axes.plot([left, ridge, right], [left * passes_per_second / 1e9, peak, peak], color=plots.LIGHT_INK)
    axes.annotate(
        "one pass per clock cycle", (max(40, 2.4 * left), max(40, 2.4 * left) * passes_per_second / 1e9), (-8, 6), textcoords="offset points", ha="right"
    )
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
    axes.set_ylim(300 * max(1, left / 4), 2 * peak)
    plots.axis_of_decades(axes.xaxis, "FLOP per pass of the L1 cache and shared memory")
    plots.axis_of_decades(axes.yaxis, "GFLOP/s")
    axes.yaxis.set_major_locator(plots.matplotlib.ticker.LogLocator())
