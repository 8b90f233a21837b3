# Draws the time and the bus bandwidth of an all-reduce over the size of the message.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    rows = record.table("all-reduce with NCCL")
    sizes = [plots.in_bytes(label) for label, _ in rows]
    left, right = figure.subplots(1, 2)
    left.plot(sizes, [time for _, (time, _) in rows], "o-", color=plots.BLUE)
    plots.axis_of_decades(left.yaxis, "µs for one all-reduce")
    right.plot(sizes, [bandwidth for _, (_, bandwidth) in rows], "o-", color=plots.BLUE)
    plots.axis_of_decades(right.yaxis, "bus bandwidth, GB/s")
    if limit := record.number(r"carry at most ([\d.]+) GB/s"):
        right.axhline(limit, color=plots.LIGHT_INK, linestyle="--", linewidth=1.2)
        right.annotate(f"links: {limit:.0f} GB/s", (sizes[0], limit), (0, 5), textcoords="offset points")
        right.set_ylim(top=2 * limit)
    for axes in left, right:
        plots.axis_of_bytes(axes, sizes[::5], "bytes in one message")
    left.set_title(next(line for line in record.output if line.startswith("NCCL ")).split(";")[0])


plots.main(draw, "Microseconds for one all-reduce, and its bus bandwidth, over the size of the message", size=(9.6, 4.2))
