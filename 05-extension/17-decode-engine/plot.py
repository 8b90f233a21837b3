# Draws how long a step of the large model takes on each rung, and which part of it the bound explains.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    rows = [row for row in record.table("The bound") if not row[0].startswith("rung")][-6:]  # those of the large model
    names = [label.split()[0] for label, _ in rows]
    steps, bounds = [values[1] for _, values in rows], [values[3] for _, values in rows]
    axes.barh(range(len(rows)), steps, height=0.6, color=plots.ORANGE, label="the rest of the step")
    axes.barh(range(len(rows)), bounds, height=0.6, color=plots.BLUE, label="bound: weights and cache")
    for row, (step, bound) in enumerate(zip(steps, bounds)):
        axes.annotate(
            f"{step:.2f} ms, {bound / step:.2f} of the bound", (step, row), (4, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK, fontsize=9
        )
    axes.set_yticks(range(len(rows)), labels=names)
    axes.set_ylim(len(rows) - 0.5, -0.6)
    axes.set_xlim(right=1.45 * max(steps))
    axes.set_xlabel("milliseconds for each step, 8 billion weights")
    axes.legend(loc="lower right", fontsize=9)
    axes.grid(axis="y", visible=False)


plots.main(draw, "The time of a step of the large model on each rung, and its bound: the time just to read its weights and its cache.", size=(7, 3.4))
