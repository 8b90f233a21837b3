# Draws the speed of all rungs, and of the last two beside PyTorch for all sizes.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

SERIES = (
    ("cuDNN", "cuDNN", plots.GREEN, "^:"),
    ("pairs", "pairs", plots.BLUE, "o-"),
    ("flash", "flash", plots.ORANGE, "s--"),
    ("pairs_fixed", "pairs_fixed", plots.PURPLE, "D-"),
    ("flash_fixed", "flash, fixed order", plots.RED, "v--"),
)


def measured(elements, causal):
    """The rows of h200-torch.csv for one kind of problem, as dictionaries."""
    lines = (pathlib.Path(__file__).parent / "h200-torch.csv").read_text(encoding="utf-8").splitlines()
    names, *rows = [line.split(",") for line in lines if not line.startswith("#")]
    return [row for row in (dict(zip(names, row)) for row in rows) if (row["elements"], row["causal"]) == (str(elements), str(int(causal)))]


def draw_ladder(axes, rungs):
    names = [name for name, _ in rungs]
    fixed = ("two_kernels", "pairs_fixed")
    axes.barh(names, [speed for _, speed in rungs], height=0.65, color=[plots.PURPLE if name in fixed else plots.BLUE for name in names])
    for row, (name, speed) in enumerate(rungs):
        note = ", fixed order" if name in fixed else ""
        axes.annotate(f"{speed:.0f}{note}", (speed, row), (5, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK, fontsize=9)
    axes.set_xlim(right=1.2 * max(speed for _, speed in rungs))
    axes.invert_yaxis()
    axes.set_xlabel("TFLOP/s")
    axes.grid(axis="y", visible=False)


def draw_sizes(axes, elements, causal):
    rows = measured(elements, causal)
    n = [int(row["n"]) for row in rows]
    for name, label, colour, style in SERIES:
        axes.plot(n, [float(row[name]) for row in rows], style, color=colour, label=label, markersize=4)
    axes.set_xscale("log", base=2)
    axes.set_xticks(n, labels=[f"{side // 1024} Ki" for side in n], fontsize=9)
    axes.xaxis.set_minor_locator(plots.matplotlib.ticker.NullLocator())
    axes.set_ylim(0, 580)
    axes.set_title(f"d = {elements}, {'causal' if causal else 'full'}", fontsize=10)
    axes.set_xlabel("queries and keys", fontsize=9)


def draw(figure, record):
    above, below = figure.subfigures(2, 1, height_ratios=[0.7, 1])
    draw_ladder(above.subplots(), [(label.split()[0], values[0]) for label, values in record.table("rung           what is new")])
    panels = below.subplots(1, 4, sharey=True)
    for axes, (elements, causal) in zip(panels, ((64, False), (64, True), (128, False), (128, True))):
        draw_sizes(axes, elements, causal)
    panels[0].set_ylabel("TFLOP/s")
    handles, labels = panels[0].get_legend_handles_labels()
    below.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8)


plots.main(draw, "Speed of all rungs, and of the last two beside PyTorch for all sizes", size=(8.6, 6.2))
