# Draws the device's roofline and places every measured kernel below it.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    bandwidth, peak = record.number(r"peak (\d+) GB/s"), record.number(r"and (\d+) GFLOP/s")
    ridge = plots.roofline(axes, bandwidth, peak, 0.15, 500)
    axes.set_ylim(bottom=100)
    axes.annotate(f"{bandwidth:.0f} GB/s × intensity", (0.9, 0.9 * bandwidth), (-6, 10), textcoords="offset points", ha="right")
    axes.annotate(f"ridge point\n{ridge:.1f} FLOP/byte", (ridge, 150), (6, 0), textcoords="offset points", color=plots.LIGHT_QUIET)
    for label, (intensity, _, _, speed, _, _) in record.table("kernel"):
        below = "," in label
        axes.plot(intensity, speed, "o", color=plots.ORANGE if below else plots.BLUE)
        axes.annotate(label, (intensity, speed), (0, -14), textcoords="offset points", ha="center", fontsize=9)


plots.main(draw, "The roofline: attainable speed over arithmetic intensity, and the measured kernels below it")
