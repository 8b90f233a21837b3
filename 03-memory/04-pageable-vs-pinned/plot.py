# Draws the bandwidth of copies over their size, with the curves of the fitted model and n½ of the pinned copies.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

KINDS = [("pinned", plots.BLUE, 1), ("pageable", plots.ORANGE, 0)]


def draw(figure, record):
    models = dict(record.table("fitted"))
    panels = figure.subplots(1, 2, sharey=True)
    for axes, direction in zip(panels, ("host to device", "device to host")):
        rows = record.table(direction)
        sizes = [plots.in_bytes(label) for label, _ in rows]
        curve = [sizes[0] * 2 ** (step / 4) for step in range(4 * 14 + 1)]
        for kind, colour, column in KINDS:
            latency, bandwidth, half, _ = models[f"{kind}, {direction}"]
            axes.plot(sizes, [values[column] for _, values in rows], "o", color=colour, label=f"{kind}, measured")
            modelled = [size / (latency * 1e-6 + size / (bandwidth * 1e9)) / 1e9 for size in curve]
            axes.plot(curve, modelled, "--", linewidth=1.2, color=colour, label=f"{kind}, model")
            if kind == "pinned":
                axes.plot([half * 1024] * 2, [0.3, bandwidth / 2], ":", linewidth=1.2, color=plots.LIGHT_QUIET)
                axes.text(half * 1024 * 1.2, 3, "n½", color=plots.LIGHT_QUIET)
        axes.set_title(direction)
        plots.axis_of_bytes(axes, sizes[::2])
    plots.axis_of_decades(panels[0].yaxis, "GB/s")
    panels[0].set_ylim(0.3, 80)
    panels[1].legend(loc="lower right", fontsize=9)


plots.main(draw, "Bandwidth of copies over their size, from pageable and from pinned memory, measured and as the model predicts")
