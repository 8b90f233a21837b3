# Draws how much device memory the stacks take after each step of the program, from top to bottom.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    steps = record.table("up to")
    axes = figure.subplots()
    grown = [values[2] for _, values in steps]
    colors = [plots.ORANGE if label.startswith("a kernel") else plots.BLUE for label, _ in steps]
    places = range(len(steps))
    axes.barh(places, grown, color=colors, height=0.6)
    for place, mebibytes in zip(places, grown):
        axes.text(mebibytes + 40, place, f"{mebibytes:.0f}", va="center", color=plots.LIGHT_QUIET)
    axes.set_yticks(list(places), [label for label, _ in steps])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12 * max(grown))
    axes.set_xlabel("more device memory in use than with stacks of 1 KiB, MiB")


plots.main(draw, "Device memory in use after each change of the stack limit, and after a kernel that needs a larger stack")
