# Draws the time of each epilogue beside the product alone, and the speed of products of a few rows.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    above, below = figure.subplots(2, 1, height_ratios=[3, 4])
    epilogues(above, record.table("epilogue"))
    numbers = [[float(word) for word in line.split()] for line in record.output if all(word.replace(".", "").isdigit() for word in line.split())]
    thin(below, [row for row in numbers if len(row) == 9])


def epilogues(axes, rows):
    names = [label.replace("  ", " ") for label, _ in rows]
    ratios = [values[-1] for _, values in rows]
    colours = [plots.LIGHT_QUIET if "none" in name else plots.ORANGE if "second" in name else plots.BLUE for name in names]
    axes.barh(names, ratios, color=colours, height=0.65)
    axes.axvline(1, color=plots.LIGHT_INK)
    for row, ratio in enumerate(ratios):
        axes.annotate(f"{ratio:.3f}", (ratio, row), (5, 0), textcoords="offset points", va="center", fontsize=9)
    axes.set_ylim(len(names) - 0.5, -0.6)
    axes.set_xlim(0.8, 1.15)
    axes.set_xlabel("time, in units of the product alone")
    axes.grid(axis="y", visible=False)


def thin(axes, rows):
    # Each row: rows, columns, inner, four times, cublasLt, ratio.
    names, series = [], {"one block per tile": [], "2 blocks": [], "4 blocks": [], "equal shares": [], "cublasLt": []}
    for m, n, k, *times in rows:
        names.append(f"{m:.0f} × {k:.0f}\nby {n:.0f}")
        for speeds, time in zip(series.values(), times[:5]):
            speeds.append(2 * n * k / time / 1e3)
    width = 0.16
    colours = [plots.BLUE, plots.GREEN, plots.PURPLE, plots.RED, plots.ORANGE]
    for i, ((name, speeds), colour) in enumerate(zip(series.items(), colours)):
        axes.bar([x + (i - 2) * width for x in range(len(names))], speeds, width, color=colour, label=name)
    axes.set_xticks(range(len(names)), labels=names, fontsize=9)
    axes.set_ylabel("GB/s of weights")
    axes.legend(ncols=3, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, 1.25))
    axes.grid(axis="x", visible=False)


plots.main(draw, "Time of each epilogue beside the product alone, and speed of products of a few rows", size=(7.4, 7.4))
