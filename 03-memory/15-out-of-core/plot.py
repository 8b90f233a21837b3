# Draws what share of the slowest stage's speed the pipeline reaches, over the number of buffers.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    lines = [
        ("from the disk, fast kernel", plots.BLUE, "o-"),
        ("from the disk, slow kernel", plots.ORANGE, "s-"),
        ("from the page cache, fast kernel", plots.GREEN, "^-"),
        ("from the page cache, slow kernel", plots.PURPLE, "d-"),
    ]
    for title, colour, style in lines:
        rows = record.table(title)
        axes.plot([int(label) for label, _ in rows], [100 * values[2] for _, values in rows], style, color=colour, label=title)
    axes.axhline(85, color=plots.LIGHT_QUIET, linestyle=":")
    axes.set_xticks([1, 2, 3, 4])
    axes.set_ylim(0, 115)
    axes.set_xlabel("buffers")
    axes.set_ylabel("% of the slowest stage's speed")
    axes.legend(loc="lower right")


plots.main(draw, "Share of the slowest stage's speed over the number of buffers, for two sources and two kernels; two buffers reach 85 percent in all cases")
