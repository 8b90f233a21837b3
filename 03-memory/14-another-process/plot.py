# Draws how long it takes to attach to an array, and to fill one of one's own, over its size.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    rows = record.table("MiB")
    sizes = [float(label) * plots.UNITS["MiB"] for label, _ in rows]
    lines = [
        ("copy from the host", plots.ORANGE, 2, "s-"),
        ("descriptor", plots.BLUE, 1, "o-"),
        ("IPC handle", plots.PURPLE, 0, "d-"),
    ]
    for name, colour, column, style in lines:
        axes.plot(sizes, [values[column] for _, values in rows], style, color=colour, label=name)
    plots.axis_of_bytes(axes, sizes, "bytes in the array")
    plots.axis_of_decades(axes.yaxis, "ms")
    axes.yaxis.set_major_locator(plots.matplotlib.ticker.LogLocator())
    axes.legend()


plots.main(draw, "Time to attach to an array of another process, in two ways, and to copy it, over its size: attaching hardly depends on the size")
