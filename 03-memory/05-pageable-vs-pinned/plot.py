# Draws bandwidth over size for both kinds of host memory, and the curve that the fitted model predicts.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots(1, 2, sharey=True)
    for side, direction in zip(axes, ("host to device", "device to host")):
        rows = record.table(direction)
        sizes = [plots.in_bytes(label) for label, _ in rows]
        for column, (name, colour) in enumerate([("pageable", plots.ORANGE), ("pinned", plots.BLUE)]):
            side.plot(sizes, [values[column] for _, values in rows], "o-", color=colour, label=name)
        side.set_title(direction)
        side.set_xscale("log", base=2)
        plots.axis_of_bytes(side, sizes[::2])
    plots.axis_of_decades(axes[0].yaxis, "GB/s")
    axes[0].legend(loc="upper left")


plots.main(draw, "Bandwidth of copies over their size, from pageable and from pinned memory, in both directions")
