# Draws what it costs to allocate and free memory, over sizes.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    rows = record.table("us to allocate")
    sizes = [plots.in_bytes(label) for label, _ in rows]
    lines = [("cuMemAlloc, nothing else allocated", plots.ORANGE, "o-"), ("cuMemAlloc", plots.BLUE, "s-"), ("pool", plots.GREEN, "^-")]
    for column, (name, colour, style) in enumerate(lines):
        axes.plot(sizes, [values[column] for _, values in rows], style, color=colour, label=name)
    plots.axis_of_bytes(axes, sizes, "bytes in one allocation")
    plots.axis_of_decades(axes.yaxis, "µs to allocate and free")
    axes.legend()


plots.main(draw, "Cost of allocating and freeing over the size: the pool costs the same for every size")
