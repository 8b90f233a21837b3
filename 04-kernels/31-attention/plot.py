# Draws the speed of every kernel, the kernels in the roofline, and the last kernel beside PyTorch for all sizes.
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
import attention_plots  # noqa: E402
from attention_plots import plots  # noqa: E402

BANDWIDTH, PRODUCTS = 4248, 551_600  # GB/s of a copy, GFLOP/s of mma instructions alone (04-25): measured on the same H200


def draw_ladder(axes, rungs, most):
    names = [name for name, _ in rungs]
    axes.barh(names, [speed for _, speed in rungs], height=0.65, color=plots.BLUE)
    axes.axvline(most, color=plots.LIGHT_INK)
    axes.annotate(f"products alone {most:.0f}", (most, -0.9), (-6, 0), textcoords="offset points", ha="right", va="center")
    for row, (_, speed) in enumerate(rungs):
        axes.annotate(f"{speed:.0f}", (speed, row), (5, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK, fontsize=9)
    axes.set_xlim(right=1.12 * most)
    axes.set_ylim(len(names) - 0.5, -1.4)
    axes.set_xlabel("TFLOP/s")
    axes.grid(axis="y", visible=False)


def draw_roofline(axes, rungs):
    plots.roofline(axes, BANDWIDTH, PRODUCTS, 10, 10_000)
    axes.xaxis.set_major_locator(plots.matplotlib.ticker.LogLocator())
    # FLOP per byte of device memory; ncu has counted the bytes of some kernels for fewer heads
    moved = {
        row["kernel"]: (float(row["dram_read_GB"]) + float(row["dram_write_GB"])) / int(row["heads"]) for row in attention_plots.csv(FOLDER, "h200-ncu.csv")
    }
    operations = 4 * 8192**2 * 128 / 1e9
    for (name, speed), colour in zip([rungs[0], rungs[1], rungs[-1]], (plots.RED, plots.ORANGE, plots.BLUE)):
        intensity = operations / moved[name]
        axes.plot(intensity, 1e3 * speed, "o", color=colour)
        axes.annotate(name, (intensity, 1e3 * speed), (-8, -12), textcoords="offset points", ha="right", color=colour)


def draw(figure, record):
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1])
    rungs = [(label.split()[0], values[0]) for label, values in record.table("full ")]
    ladder, roof = above.subplots(1, 2, width_ratios=[1.2, 1])
    draw_ladder(ladder, rungs, record.number(r"products alone: ([\d.]+)"))
    draw_roofline(roof, rungs)
    attention_plots.draw_sizes(below, FOLDER)


plots.main(draw, "Speed of every kernel; the kernels in the roofline; and the last kernel beside PyTorch for all sizes", size=(8.6, 7.4))
