# Draws the time of every kernel, the products in the roofline, and the last kernel beside cublasLt.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

BANDWIDTH, PRODUCTS = 4420, 551_600  # GB/s that an H200 reads (04-34), GFLOP/s of mma instructions alone (04-25)


def draw_ladder(axes, rows):
    names = [label.split()[0] for label, _ in rows]
    for offset, column, colour, label in ((-0.2, 0, plots.BLUE, "1 row of x"), (0.2, 2, plots.ORANGE, "16 rows")):
        times = [values[column] for _, values in rows]
        axes.barh([row + offset for row in range(len(names))], times, height=0.36, color=colour, label=label)
        for row, time in enumerate(times):
            axes.annotate(f"{time + 1e-9:.1f}", (time, row + offset), (4, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK, fontsize=8)
    axes.set_yticks(range(len(names)), labels=names)
    axes.set_xlim(right=38)
    axes.set_ylim(len(names) - 0.5, -0.6)
    axes.set_xlabel("microseconds, 14336 × 4096")
    axes.legend(loc="center right", fontsize=8)
    axes.grid(axis="y", visible=False)


def draw_roofline(axes, rows):
    plots.roofline(axes, BANDWIDTH, PRODUCTS, 1, 1000)
    axes.xaxis.set_major_locator(plots.matplotlib.ticker.LogLocator())
    axes.set_ylim(bottom=1000)
    operations = 2 * 14336 * 4096 / 1e3  # GFLOP/s of one row of x in one microsecond
    for name, bits, colour in (("cublasLt", 16, plots.GREEN), ("convert", 4.125, plots.RED), ("folded", 4.125, plots.BLUE)):
        times = next(values for label, values in rows if label.strip("(").startswith(name))
        x = [2 * m / (bits / 8) for m in (1, 8, 16)]
        y = [m * operations / time for m, time in zip((1, 8, 16), times)]
        axes.plot(x, y, "o", color=colour)
        axes.annotate(name, (x[-1], y[-1]), (4, 6) if name == "folded" else (8, -5), textcoords="offset points", color=colour, fontsize=9)


def draw_sizes(axes, sizes, rows, columns):
    here = [size for size in sizes if size[:2] == [rows, columns]]
    at = range(len(here))
    axes.bar([x - 0.2 for x in at], [size[4] for size in here], 0.38, color=plots.GREEN, label="cublasLt")
    axes.bar([x + 0.2 for x in at], [size[3] for size in here], 0.38, color=plots.BLUE, label="overlapped")
    for x, size in zip(at, here):
        axes.annotate(f"{size[5] + 1e-9:.1f}×", (x + 0.2, size[3]), (0, 3), textcoords="offset points", ha="center", fontsize=8)
    axes.set_xticks(list(at), labels=[f"{size[2]:.0f}" for size in here])
    axes.set_ylim(top=1.3 * max(size[4] for size in here))
    axes.set_title(f"{rows} × {columns}", fontsize=10)
    axes.set_xlabel("rows of x", fontsize=9)
    axes.grid(axis="x", visible=False)


def draw(figure, record):
    above, below = figure.subfigures(2, 1, height_ratios=[1, 0.8])
    rows = [row for row in record.table("kernel") if not row[0].startswith("kernel")]
    numbers = [[float(word) for word in line.split()] for line in record.output if line.replace(".", "").replace(" ", "").isdigit()]
    sizes = [row for row in numbers if len(row) == 7]
    ladder, roof = above.subplots(1, 2, width_ratios=[1.2, 1])
    draw_ladder(ladder, rows)
    draw_roofline(roof, rows)
    shapes = list(dict.fromkeys((int(size[0]), int(size[1])) for size in sizes))
    panels = below.subplots(1, len(shapes))
    for axes, (n, k) in zip(panels, shapes):
        draw_sizes(axes, sizes, n, k)
    panels[0].set_ylabel("microseconds")
    panels[0].legend(loc="upper left", fontsize=8)


plots.main(draw, "Time of every kernel; the products in the roofline; and the last kernel beside cublasLt for several sizes", size=(8.6, 7.2))
