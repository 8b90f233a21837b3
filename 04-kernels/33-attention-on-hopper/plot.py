# Draws how fast every kernel is and how busy its tensor cores are, and the last kernel beside PyTorch for all sizes.
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
import attention_plots  # noqa: E402
from attention_plots import plots  # noqa: E402


def draw_ladder(axes, rungs, shown, most=850):
    """Bars for the speed; the number at the end of a bar is the share of the tensor cores' multiply-adds at the kernel's clock rate."""
    axes.barh([name for name, _, _ in rungs], [speed for _, speed, _ in rungs], height=0.65, color=plots.BLUE)
    for row, (_, speed, busy) in enumerate(rungs):
        axes.annotate(f"{100 * busy:.0f}%", (speed, row), (5, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK, fontsize=9)
    axes.set_xlim(0, most)
    axes.set_ylim(5.5, -0.6)  # as many bars in all panels
    axes.set_title(shown, fontsize=10)
    axes.set_xlabel("TFLOP/s (and busy)", fontsize=9)
    axes.grid(axis="y", visible=False)


def draw(figure, record):
    above, below = figure.subfigures(2, 1, height_ratios=[0.85, 1])
    full, causal, e4m3 = above.subplots(1, 3)
    for axes, title, shown in ((full, "full ", "n = 16 Ki, full"), (causal, "causal ", "causal")):
        draw_ladder(axes, [(label.split()[0], values[0], values[-1]) for label, values in record.table(title)], shown)
    rows = [row for row in attention_plots.csv(FOLDER, "h200-e4m3.csv") if row["mask"] == "full"]
    draw_ladder(e4m3, [(row["kernel"], float(row["tflops"]), float(row["busy"])) for row in rows], "e4m3, full", 1200)
    attention_plots.draw_sizes(below, FOLDER, 720)


plots.main(draw, "Speed of every kernel, and how busy its tensor cores are; and the last kernel beside PyTorch for all sizes", size=(8.6, 6.6))
