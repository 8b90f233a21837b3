# Draws the time of the job over the number of pieces, and what the model predicts.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    rows = record.table("pieces")
    pieces = [int(label) for label, _ in rows]
    lines = [("model", plots.LIGHT_QUIET, "--"), ("a stream per stage", plots.BLUE, "o-"), ("a stream per piece", plots.ORANGE, "s-")]
    for column, (name, colour, style) in enumerate(lines):
        axes.plot(pieces, [values[column] for _, values in rows], style, color=colour, label=name)
    axes.axhline(record.number(r"compute ([\d.]+) ms"), color=plots.GREEN, linestyle=":", label="computing alone")
    axes.set_xscale("log", base=2)
    axes.set_xticks(pieces, [str(number) for number in pieces])
    axes.set_xlabel("pieces")
    axes.set_ylabel("ms")
    axes.set_ylim(bottom=0)
    axes.legend()


plots.main(draw, "Time of the job over the number of pieces, measured in two forms and predicted; the optimum is near 32 pieces")
