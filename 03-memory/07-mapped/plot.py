# Draws the time of both versions for each kind of work.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    rows = record.table("ms")
    places = range(len(rows))
    for column, (name, colour, shift) in enumerate([("copy, then compute", plots.ORANGE, -0.2), ("compute on mapped memory", plots.BLUE, 0.2)]):
        axes.barh([place + shift for place in places], [values[column] for _, values in rows], 0.36, color=colour, label=name)
    axes.set_yticks(list(places), [label for label, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("ms")
    axes.legend()


plots.main(draw, "Times of copying first and of mapped memory; repeated reads are slow without the L1 cache, and few reads are fast")
