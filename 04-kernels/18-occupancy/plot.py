# Draws the latency of loads over the bandwidth: of the copy, and of one thread beside blocks that load.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

# GB/s that the other blocks load, and the latency in microseconds: make 04-kernels/18-occupancy ARGS=--latency, on an H200.
PROBE = [
    (0, 0.336),
    (1097.9, 0.335),
    (2087.4, 0.351),
    (2942.3, 0.371),
    (3571.0, 0.405),
    (4032.4, 0.453),
    (4260.4, 0.519),
    (4402.7, 0.588),
    (4515.2, 0.664),
]
PEAK = 4814  # GB/s


def draw(figure, record):
    axes = figure.subplots()
    copy = [values[-2:] for _, values in record.table("blocks of 256 threads")]
    axes.plot([x for x, _ in PROBE], [y for _, y in PROBE], "o-", color=plots.BLUE)
    axes.plot([x for x, _ in copy], [y for _, y in copy], "s--", color=plots.ORANGE)
    axes.annotate("one thread, while other blocks load", (3000, 0.3), (0, -16), textcoords="offset points", ha="center", color=plots.BLUE)
    axes.annotate("all threads of the copy", (1500, 0.55), (0, 8), textcoords="offset points", ha="right", color=plots.ORANGE)
    axes.axvline(PEAK, color=plots.LIGHT_INK)
    axes.annotate(f"peak {PEAK}", (PEAK, 0.75), (-6, 0), textcoords="offset points", ha="right", va="center")
    axes.set_xlim(0, 5100)
    axes.set_ylim(0, 0.8)
    axes.set_xlabel("GB/s, loads and stores together")
    axes.set_ylabel("latency of a load, µs")


plots.main(draw, "Latency of a load over the bandwidth")
