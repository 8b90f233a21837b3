# Draws what `make bench` has recorded of a lesson. A lesson's plot.py consists of one function and a call:
#
#   def draw(figure, record):            # a matplotlib figure, and a plots.Record
#       axes = figure.subplots()
#       …
#   plots.main(draw, "What the plot shows, in a sentence.")      # python3 plot.py RECORD.json OUT.svg
#
# The SVG shows its text as text, follows the reader's light or dark page, and ends with a caption that names device,
# driver, toolkit, date, and PyTorch's version where a lesson uses it. The same record always gives the same file.
import io
import json
import math
import pathlib
import re
import sys

try:
    import matplotlib
    import matplotlib.figure
    import matplotlib.ticker
except ImportError:
    matplotlib = None

# (light page, dark page). A plot names the first; the second replaces it where the reader's page is dark.
INK, QUIET, GRID = ("#1f2328", "#e6edf3"), ("#59636e", "#9198a1"), ("#d1d9e0", "#3d444d")
SERIES = [("#1f5fb0", "#78b0ff"), ("#9a5b00", "#f0b440"), ("#1a7f37", "#56d364"), ("#8250df", "#c297ff"), ("#b3261e", "#ff9a92")]
BLUE, ORANGE, GREEN, PURPLE, RED = (light for light, _ in SERIES)
LIGHT_INK, LIGHT_QUIET = INK[0], QUIET[0]

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class Record:
    """A measured lesson as `make bench` keeps it: device, driver, toolkit, date, and the rows of its tables."""

    def __init__(self, path):
        kept = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        self.device, self.driver = kept["device"], kept["driver"]
        self.toolkit, self.date = kept["toolkit"], kept["date"]
        self.pytorch = kept.get("pytorch")  # only lessons in Python have it
        self.rows, self.output = kept["rows"], kept["output"]

    def table(self, title):
        """[(label, values)] of the table whose first line begins with `title`. A table ends with an empty line."""
        found = [(row["label"], row["values"]) for row in self.rows if row["table"].startswith(title)]
        if not found:
            raise SystemExit(f"The record has no table that begins with '{title}'.")
        return found

    def number(self, pattern):
        """The number in the first output line that matches a pattern with one group; None if no line matches."""
        for line in self.output:
            if match := re.search(pattern, line):
                return float(match[1])
        return None

    def caption(self):
        pytorch = f", PyTorch {self.pytorch}" if self.pytorch else ""
        return f"{self.device}, driver {self.driver}, CUDA {self.toolkit}{pytorch}, {self.date[:10]}"


def in_bytes(label):
    """'64 KiB' is 65536."""
    number, unit = label.split()
    return float(number) * UNITS[unit]


def short_bytes(count, _=None):
    """65536 is '64 KiB'."""
    unit = next((name for name, size in reversed(UNITS.items()) if count >= size), "B")
    return f"{count / UNITS[unit]:g} {unit}"


def axis_of_bytes(axes, counts, label="bytes in one copy"):
    """Makes the x axis logarithmic, with a tick at every size in `counts`."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(counts), labels=[short_bytes(count) for count in counts])
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_xlabel(label)


def axis_of_decades(axis, label):
    """Makes an axis logarithmic, with ticks 1, 2, 5, 10 … as plain numbers."""
    axis.axes.set_yscale("log") if axis.axis_name == "y" else axis.axes.set_xscale("log")
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())
    axis.set_label_text(label)


def roofline(axes, bandwidth, peak, left, right):
    """Draws a device's roofline (GB/s, GFLOP/s) between two arithmetic intensities, and makes both axes logarithmic. Points come on top."""
    ridge = peak / bandwidth
    axes.plot([left, ridge, right], [left * bandwidth, peak, peak], color=LIGHT_INK)
    axes.annotate(f"{peak:.0f} GFLOP/s", (right, peak), (0, 6), textcoords="offset points", ha="right")
    axes.axvline(ridge, color=LIGHT_QUIET, linestyle=":")
    axes.set_xlim(left, right)
    axes.set_ylim(top=2 * peak)
    axis_of_decades(axes.xaxis, "arithmetic intensity, FLOP/byte")
    axis_of_decades(axes.yaxis, "GFLOP/s")
    axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator())
    return ridge


def end_labels(axes, ends, gap=13):
    """Writes [(name, x, y, colour)] to the right of the curves' last points, at least `gap` points apart."""
    axes.figure.canvas.draw()
    to_points = 72 / axes.figure.dpi
    placed = -math.inf
    for name, x, y, colour in sorted(ends, key=lambda end: end[2]):
        at = axes.transData.transform((x, y))[1] * to_points
        placed = max(at, placed + gap)
        axes.annotate(name, (x, y), (7, placed - at), textcoords="offset points", va="center", color=colour, annotation_clip=False)


def style():
    """matplotlib's settings, the same for every plot of the course."""
    light = {name: pair[0] for name, pair in {"ink": INK, "quiet": QUIET, "grid": GRID}.items()}
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "course",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 11,
        "axes.titlesize": 12,
        "axes.titlelocation": "left",
        "axes.prop_cycle": matplotlib.cycler(color=[pair[0] for pair in SERIES]),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": light["grid"],
        "grid.linewidth": 0.7,
        "text.color": light["ink"],
        "axes.edgecolor": light["quiet"],
        "axes.labelcolor": light["ink"],
        "xtick.color": light["quiet"],
        "ytick.color": light["quiet"],
        "xtick.labelcolor": light["ink"],
        "ytick.labelcolor": light["ink"],
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "legend.frameon": False,
        "lines.markersize": 5,
        "lines.linewidth": 1.8,
    }


def for_both_pages(svg, title):
    """Adds a title, and rules that replace the light page's colours on a dark page."""
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)  # nothing but the file format
    svg = svg.replace("'DejaVu Sans', sans-serif", "system-ui, 'DejaVu Sans', sans-serif")
    rules = "\n".join(
        f'      [style*="{what}: {light}"] {{ {what}: {dark} !important }}'
        for light, dark in [INK, QUIET, GRID, *SERIES]
        for what in ("fill", "stroke")
        if f"{what}: {light}" in svg
    )
    css = f"  <style>\n    @media (prefers-color-scheme: dark) {{\n{rules}\n    }}\n  </style>\n"
    head = re.search(r"<svg\b[^>]*>\n", svg)
    return svg[head.start() : head.end()] + f"  <title>{title}</title>\n" + css + svg[head.end() :]


def draw_to(draw, record, out, title, size=(7.4, 4.2)):
    """Draws one record with the lesson's function and writes the SVG."""
    with matplotlib.rc_context(style()):
        figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
        draw(figure, record)
        figure.supxlabel(record.caption(), fontsize=9, color=QUIET[0], x=0.01, ha="left")
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    lines = for_both_pages(drawn.getvalue(), title).splitlines()
    pathlib.Path(out).write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")


def main(draw, title, **how):
    """python3 plot.py RECORD.json OUT.svg. The title is read to those who cannot see the plot."""
    if len(sys.argv) != 3:
        raise SystemExit(f"usage: python3 {sys.argv[0]} RECORD.json OUT.svg")
    if matplotlib is None:
        raise SystemExit("The plot is skipped: Python has no matplotlib here. Install it with `pip install matplotlib`.")
    draw_to(draw, Record(sys.argv[1]), sys.argv[2], title, **how)
