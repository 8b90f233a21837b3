# Draws the speeds of both ladders, and places all rungs on the roofline.
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

# Bytes that must move to and from global memory for one element of the scan: rungs 1 and 2 make several passes.
BYTES = {"scan_then_add": 16, "sum_then_scan": 12}


def name_of(label):
    """'pipelined' of 'pipelined TMA loads …', and '(a copy)' of '(a copy) cuMemcpyDtoD …'"""
    return label[: label.index(")") + 1] if label.startswith("(") else label.split()[0]


def scan_bars(axes, rows):
    names = [name for name, _ in rows]
    for y, (name, (speed, share)) in enumerate(rows):
        axes.barh(y, share, color=plots.LIGHT_QUIET if name.startswith("(") else plots.BLUE, height=0.65)
        inside = share > 0.6
        axes.annotate(
            f"{speed:.0f} GB/s",
            (share, y),
            (-5 if inside else 5, 0),
            textcoords="offset points",
            ha="right" if inside else "left",
            va="center",
            fontsize=9,
            color="white" if inside else plots.LIGHT_INK,
        )
    axes.set_yticks(range(len(names)), [name.strip("()") for name in names])
    axes.set_ylim(len(names) - 0.5, -0.6)
    axes.set_xlabel("scan: speed, as a share of a copy's")
    axes.grid(axis="y", visible=False)


def histogram_bars(axes, rows, peak):
    names = [name for name, _ in rows]
    for place, (kind, colour) in enumerate((("random", plots.BLUE), ("skewed", plots.ORANGE), ("constant", plots.GREEN))):
        y = [row + (place - 1) * 0.27 for row in range(len(rows))]
        axes.barh(y, [values[place] for _, values in rows], color=colour, height=0.25, label=kind)
    axes.axvline(peak, color=plots.LIGHT_INK)
    axes.annotate(f"peak {peak:.0f}", (peak, -0.75), (-6, 0), textcoords="offset points", ha="right", va="center")
    axes.set_yticks(range(len(names)), [name.strip("()") for name in names])
    axes.set_ylim(len(names) - 0.5, -1.1)
    axes.set_xlabel("histogram: GB/s")
    axes.grid(axis="y", visible=False)
    axes.legend(loc="upper right", bbox_to_anchor=(0.93, 0.86))


def roofline(axes, scans, histograms, peak):
    left, right = 0.02, 4
    axes.plot([left, right], [left * peak, right * peak], color=plots.LIGHT_INK)
    axes.annotate(f"{peak:.0f} GB/s × intensity", (0.11, 0.11 * peak), (-6, 10), textcoords="offset points", ha="right")
    points = [(name, 1 / BYTES.get(name, 8), speed / 8) for name, (speed, _) in scans]
    for _, x, y in points:
        axes.plot(x, y, "o", color=plots.BLUE)
    for place, colour in enumerate((plots.BLUE, plots.ORANGE, plots.GREEN)):
        for _, values in histograms:
            axes.plot(1, values[place], "s", color=colour)
    points += [(name, 1, values[0]) for name, values in histograms]
    axes.set_xlim(left, right)
    axes.set_ylim(1, 2 * peak)
    plots.axis_of_decades(axes.xaxis, "additions per byte of global memory traffic")
    plots.axis_of_decades(axes.yaxis, "10⁹ additions/s")
    axes.yaxis.set_major_locator(plots.matplotlib.ticker.LogLocator())
    below = {}  # for each column of points, the height of the lowest label so far: labels must not overlap
    for name, x, y in sorted(points, key=lambda point: -point[2]):
        height = 57 * math.log10(y)  # roughly, in points
        below[x] = min(height, below.get(x, math.inf) - 12)
        if name in BYTES:  # to the left of the others
            offset = (-45, -34) if name == "scan_then_add" else (-14, -64)
            line = {"arrowstyle": "-", "color": plots.LIGHT_QUIET, "linewidth": 0.7}
            axes.annotate(name, (x, y), offset, textcoords="offset points", ha="center", arrowprops=line)
        else:
            axes.annotate(name, (x, y), (7, below[x] - height - 3), textcoords="offset points")


def draw(figure, record):
    peak = record.number(r"peak bandwidth (\d+)")
    scans = [(name_of(label), values) for label, values in record.table("scan")]
    histograms = [(name_of(label), values) for label, values in record.table("histogram")]
    top, middle, bottom = figure.subplots(3, 1, height_ratios=[1, 1.15, 1.35])
    scan_bars(top, scans)
    histogram_bars(middle, histograms, peak)
    rungs = [[row for row in rows if not row[0].startswith("(")] for rows in (scans, histograms)]
    roofline(bottom, *rungs, peak)


plots.main(draw, "Speed of every rung of the scan and the histogram, and all rungs on the roofline", size=(7.4, 10.4))
