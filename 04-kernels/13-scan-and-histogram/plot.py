# Draws the speeds of both ladders, and places all rungs on the roofline.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

# Bytes that must move to and from global memory for one element of the scan: rungs 1 and 2 make several passes.
BYTES = {"scan_then_add": 16, "sum_then_scan": 12}


def scan_bars(axes, rows):
    names = [name for name, _ in rows]
    for y, (name, (speed, share)) in enumerate(rows):
        axes.barh(y, share, color=plots.LIGHT_QUIET if name.startswith("(") else plots.BLUE, height=0.65)
        inside = share > 0.6
        axes.annotate(f"{speed:.0f} GB/s", (share, y), (-5 if inside else 5, 0), textcoords="offset points",
                      ha="right" if inside else "left", va="center", fontsize=9, color="white" if inside else plots.LIGHT_INK)
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
    left, right = 0.04, 2
    axes.plot([left, right], [left * peak, right * peak], color=plots.LIGHT_INK)
    axes.annotate(f"{peak:.0f} GB/s × intensity", (0.3, 0.3 * peak), (-6, 8), textcoords="offset points", ha="right")
    for name, (speed, _) in scans:
        bytes_per_element = BYTES.get(name, 8)
        axes.plot(1 / bytes_per_element, speed / 8, "o", color=plots.BLUE)
        axes.annotate(name, (1 / bytes_per_element, speed / 8), (7, -3), textcoords="offset points", fontsize=9)
    for place, colour in enumerate((plots.BLUE, plots.ORANGE, plots.GREEN)):
        for name, values in histograms:
            axes.plot(1, values[place], "s", color=colour)
            if place == 0:
                axes.annotate(name, (1, values[0]), (-8, -3), textcoords="offset points", ha="right", fontsize=9)
    axes.set_xlim(left, right)
    axes.set_ylim(1, 2 * peak)
    plots.axis_of_decades(axes.xaxis, "additions per byte of global memory traffic")
    plots.axis_of_decades(axes.yaxis, "10⁹ additions/s")
    axes.yaxis.set_major_locator(plots.matplotlib.ticker.LogLocator())


def draw(figure, record):
    peak = record.number(r"peak bandwidth (\d+)")
    scans = [(label.split()[0], values) for label, values in record.table("scan")]
    histograms = [(label.split()[0], values) for label, values in record.table("histogram")]
    top, middle, bottom = figure.subplots(3, 1, height_ratios=[1, 1.15, 1.35])
    scan_bars(top, scans)
    histogram_bars(middle, histograms, peak)
    rungs = [row for row in scans if not row[0].startswith("(")], [row for row in histograms if not row[0].startswith("(")]
    roofline(bottom, *rungs, peak)


plots.main(draw, "Speed of every rung of the scan and the histogram, and all rungs on the roofline", size=(7.4, 10.4))
