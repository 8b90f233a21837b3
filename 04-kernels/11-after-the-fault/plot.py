# Draws the time from a fault to the first reply, and the device memory that each way needs while it waits.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    rows = record.table("recoveries")
    axes = figure.subplots()
    names, times = [label for label, _ in rows], [values[0] for _, values in rows]
    axes.barh(names, times, color=plots.BLUE, height=0.6)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("milliseconds from the fault to the first reply")
    axes.set_xlim(0, 1.3 * max(times))
    for at, (_, values) in enumerate(rows):
        memory = f", {values[1]:.0f} MiB while waiting" if values[1] else ""
        axes.annotate(f"{values[0]:.3g} ms{memory}", (values[0], at), (6, 0), textcoords="offset points", va="center")


plots.main(draw, "Time to the first reply after a fault: a standby, new processes, and a checkpointed process", size=(7.4, 3.0))
