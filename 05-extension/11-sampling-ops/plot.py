# Draws how many times as fast as the usual implementation each op is.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    rows = []
    for label, (_, _, ratio) in record.table("float32, in ms"):
        rows.append((label, ratio, "grid_sample" if "attention" in label else "torchvision"))
    for at, (_, ratio, other) in enumerate(rows):
        colour = plots.BLUE if other == "torchvision" else plots.ORANGE
        axes.barh(at, ratio, color=colour, height=0.7)
        axes.annotate(f"{ratio:.1f}", (ratio, at), (4, 0), textcoords="offset points", va="center")
    axes.axvline(1, color=plots.LIGHT_INK)
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("times as fast as torchvision (blue) or PyTorch's grid_sample (orange)")
    axes.grid(axis="y", visible=False)


plots.main(draw, "How many times as fast as torchvision or grid_sample each op is")
