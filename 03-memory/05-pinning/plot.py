# Draws what a copy costs with and without pinning, and what pinning costs, over the size of the array.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

CURVES = [("pin and unpin, once", plots.RED, 2), ("copy, pageable", plots.ORANGE, 0), ("copy, pinned", plots.BLUE, 1)]


def draw(figure, record):
    rows = record.table("ms ")
    sizes = [plots.in_bytes(label) for label, _ in rows]
    axes = figure.subplots()
    for name, colour, column in CURVES:
        axes.plot(sizes, [values[column] for _, values in rows], "o-", color=colour, label=name)
    plots.axis_of_bytes(axes, sizes, "size of the array")
    plots.axis_of_decades(axes.yaxis, "milliseconds")
    axes.legend(loc="upper left")


plots.main(draw, "Time for pinning an array and for copying it to the device, pageable and pinned, over its size")
