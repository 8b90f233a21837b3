# Draws the speed of every rung as a share of a copy's, for both types.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    height = 0.38
    names = []
    for place, (kind, colour) in enumerate((("FP32", plots.BLUE), ("BF16", plots.ORANGE))):
        rows = [(label.split()[0], values) for label, values in record.table(kind)]
        rows = [(name, values) for name, values in rows if not name.startswith("(")]
        names = [name for name, _ in rows]
        y = [row + (place - 0.5) * height for row in range(len(rows))]
        axes.barh(y, [share for _, (_, share) in rows], color=colour, height=height - 0.02, label=kind)
        for at, (_, (speed, share)) in zip(y, rows):
            inside = share > 0.6
            axes.annotate(
                f"{speed:.0f} GB/s",
                (share, at),
                (-5 if inside else 5, 0),
                textcoords="offset points",
                ha="right" if inside else "left",
                va="center",
                fontsize=9,
                color="white" if inside else plots.LIGHT_INK,
            )
    axes.axvline(1, color=plots.LIGHT_INK)
    axes.annotate("a copy", (1, -0.75), (-6, 0), textcoords="offset points", ha="right", va="center")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -1.1)
    axes.set_xlabel("speed, as a share of a copy's")
    axes.grid(axis="y", visible=False)
    axes.legend(loc="upper right", bbox_to_anchor=(0.98, 0.86), frameon=False)


plots.main(draw, "Speed of every kernel of the transpose ladder as a share of a copy's, for FP32 and BF16")
