# Draws the steps of each start as stacked bars: all starts in seconds, and those that compile nothing in milliseconds.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

STEPS = [("cuInit", plots.BLUE), ("context", plots.GREEN), ("module", plots.ORANGE), ("first launch", plots.RED)]


def bars(axes, rows, scale, unit):
    names = [label for label, _ in rows]
    left = [0.0] * len(rows)
    for number, (step, colour) in enumerate(STEPS):
        widths = [values[number] / scale for _, values in rows]
        axes.barh(names, widths, left=left, color=colour, label=step, height=0.6)
        left = [at + width for at, width in zip(left, widths)]
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(unit)


def draw(figure, record):
    rows = record.table("milliseconds")
    fast = [(label, values) for label, values in rows if values[4] < 1000]
    above, below = figure.subplots(2, 1, height_ratios=[len(rows), len(fast)])
    bars(above, rows, 1000, "seconds")
    bars(below, fast, 1, "milliseconds")
    above.legend(loc="upper right", bbox_to_anchor=(1, 0.75), ncols=2, fontsize=9)


plots.main(draw, "The steps of seven starts of a service with 200 kernels: compilation takes seconds, all else a fifth of a second", size=(7.4, 5.2))
