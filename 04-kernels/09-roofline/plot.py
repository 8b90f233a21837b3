# Draws the device's roofline and places every measured kernel below it.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    bandwidth, peak = record.number(r"peak (\d+) GB/s"), record.number(r"and (\d+) GFLOP/s")
    ridge = peak / bandwidth
    left, right = 0.15, 500
    axes.plot([left, ridge, right], [left * bandwidth, peak, peak], color=plots.LIGHT_INK)
    axes.annotate(f"{bandwidth:.0f} GB/s × intensity", (0.9, 0.9 * bandwidth), (-6, 10), textcoords="offset points", ha="right")
    axes.annotate(f"{peak:.0f} GFLOP/s", (right, peak), (0, 6), textcoords="offset points", ha="right")
    axes.axvline(ridge, color=plots.LIGHT_QUIET, linestyle=":")
    axes.annotate(f"ridge point\n{ridge:.1f} FLOP/byte", (ridge, 150), (6, 0), textcoords="offset points", color=plots.LIGHT_QUIET)
    for label, (intensity, _, _, speed, _, _) in record.table("kernel"):
        below = "," in label
        axes.plot(intensity, speed, "o", color=plots.ORANGE if below else plots.BLUE)
        axes.annotate(label, (intensity, speed), (0, -14), textcoords="offset points", ha="center", fontsize=9)
    axes.set_xlim(left, right)
    axes.set_ylim(100, 2 * peak)
    plots.axis_of_decades(axes.xaxis, "arithmetic intensity, FLOP/byte")
    plots.axis_of_decades(axes.yaxis, "GFLOP/s")
    axes.yaxis.set_major_locator(plots.matplotlib.ticker.LogLocator())


plots.main(draw, "The roofline: attainable speed over arithmetic intensity, and the measured kernels below it")
