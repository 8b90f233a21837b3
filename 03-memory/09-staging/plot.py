# Draws the bandwidth of the upload over the number of threads, and what the model predicts.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes = figure.subplots()
    rows = [(int(label.split()[2]), values) for label, values in record.table(r"") if label.startswith("a ring")]
    threads = [count for count, _ in rows]
    axes.plot(threads, [values[1] for _, values in rows], "--", color=plots.LIGHT_QUIET, label="model")
    axes.plot(threads, [values[0] for _, values in rows], "o-", color=plots.BLUE, label="a ring of pinned buffers")
    axes.axhline(record.number(r"pinned memory +\| +([\d.]+)"), color=plots.GREEN, linestyle=":", label="pinned memory")
    axes.axhline(record.number(r"pageable memory +\| +([\d.]+)"), color=plots.ORANGE, linestyle="-.", label="pageable memory")
    axes.set_xscale("log", base=2)
    axes.set_xticks(threads, [str(number) for number in threads])
    axes.set_xlabel("threads")
    axes.set_ylabel("GB/s")
    axes.set_ylim(bottom=0)
    axes.legend()


plots.main(draw, "Bandwidth over the number of threads: it grows with every thread until the interconnect is full")
