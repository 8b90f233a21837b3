# Draws what it costs to bring managed memory to the device, over sizes.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    rows = record.table("ms ")
    sizes = [plots.in_bytes(label) for label, _ in rows]
    lines = [("kernel with page faults", plots.ORANGE, "o-"), ("prefetch, then kernel", plots.BLUE, "s-"), ("copy from pinned memory", plots.GREEN, "^-")]
    for column, (name, colour, style) in enumerate(lines):
        axes.plot(sizes, [values[column] for _, values in rows], style, color=colour, label=name)
    axes.set_xscale("log", base=2)
    plots.axis_of_bytes(axes, sizes, "size of the memory")
    plots.axis_of_decades(axes.yaxis, "ms")
    axes.legend()


plots.main(draw, "Time to bring managed memory to the device over its size: page faults cost several times as much as a prefetch")
