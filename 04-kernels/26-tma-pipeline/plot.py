# Draws the speed of every kernel, and that of the last one over the bytes in flight.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw_ladder(axes, rungs, peak):
    names = [label.split()[0] for label, _ in rungs]
    axes.barh(names, [values[0] / 1000 for _, values in rungs], height=0.65, color=[plots.ORANGE] + [plots.BLUE] * (len(names) - 1))
    axes.axvline(peak, color=plots.LIGHT_INK)
    axes.annotate(f"peak {peak:.1f}", (peak, -0.9), (-6, 0), textcoords="offset points", ha="right", va="center")
    for row, (_, values) in enumerate(rungs):
        speed = values[0] / 1000
        axes.annotate(f"{speed:.1f}", (peak if speed > 0.8 * peak else speed, row), (5, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK)
    axes.set_xlim(right=1.15 * peak)
    axes.set_ylim(len(names) - 0.5, -1.4)
    axes.set_xlabel("TB/s")
    axes.grid(axis="y", visible=False)


def draw_stages(axes, rows, peak, most):
    stages, kibibytes, speed = ([column[i] for column in rows] for i in range(3))
    axes.plot(kibibytes, [s / 1000 for s in speed], "o-", color=plots.BLUE)
    axes.axhline(peak, color=plots.LIGHT_INK)
    axes.axhline(most, color=plots.ORANGE, linestyle="--")
    axes.annotate("many_blocks", (kibibytes[0], most), (0, -5), textcoords="offset points", va="top", fontsize=9)
    for x, y, n in zip(kibibytes, speed, stages):
        axes.annotate(f"{n:.0f}", (x, y / 1000), (0, -14), textcoords="offset points", ha="center", fontsize=9)
    axes.set_xscale("log", base=2)
    axes.set_xticks(kibibytes, labels=[f"{k:.0f}" for k in kibibytes])
    axes.xaxis.set_minor_locator(plots.matplotlib.ticker.NullLocator())
    axes.set_ylim(0, 1.05 * peak)
    axes.set_xlabel("KiB in flight (at the points: stages)")
    axes.set_ylabel("TB/s")


def draw(figure, record):
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
    peak = record.number(r"peak (\d+) GB/s") / 1000
    rungs = record.table("kernel")
    draw_ladder(left, rungs, peak)
    draw_stages(right, [(float(label), *values) for label, values in record.table("stages")], peak, rungs[0][1][0] / 1000)


plots.main(draw, "Speed of every kernel, and of the last one with 1 to 16 stages, over the bytes in flight", size=(7.4, 3.8))
