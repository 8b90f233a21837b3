# Draws the median and the 99th percentile of the service's time, for each way to share the GPU.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    rows = [(label, values) for label, values in record.table("a service beside") if len(values) > 1][::-1]
    places = range(len(rows))
    axes.barh([place + 0.19 for place in places], [values[0] for _, values in rows], 0.36, color=plots.BLUE, label="p50")
    axes.barh([place - 0.19 for place in places], [values[1] for _, values in rows], 0.36, color=plots.ORANGE, label="p99")
    axes.set_yticks(list(places), [label for label, _ in rows])
    plots.axis_of_decades(axes.xaxis, "ms until a request of 0.05 ms has been served")
    axes.grid(axis="y", visible=False)
    axes.legend(loc="upper right")


plots.main(draw, "Median and 99th percentile of a 50 microsecond request beside a busy neighbor, for each way to share the GPU")
