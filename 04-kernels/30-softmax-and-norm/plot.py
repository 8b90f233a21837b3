# Draws the speed of every rung over the number of columns, the bytes that each rung moves, and the last kernels beside torch.compile.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

COLOURS = {"three_passes": plots.RED, "online": plots.ORANGE, "wide": plots.GREEN, "registers": plots.PURPLE, "ahead": plots.BLUE}
MARKS = dict(zip(COLOURS, "vs^Do"))


def csv(name):
    """The rows of a file in this folder, as dictionaries."""
    lines = (pathlib.Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    names, *rows = [line.split(",") for line in lines if not line.startswith("#")]
    return [dict(zip(names, row)) for row in rows]


def axis_of_columns(axes, columns):
    axes.set_xscale("log", base=2)
    axes.set_xticks(columns, labels=[f"{n / 1024:.0f}" for n in columns], fontsize=9)
    axes.xaxis.set_minor_locator(plots.matplotlib.ticker.NullLocator())
    axes.set_xlabel("columns, Ki", fontsize=9)


def draw_ladder(axes, record):
    (_, columns), *rungs = record.table("share of a copy, float             columns")
    for label, shares in rungs:
        rung = label.split()[0]
        axes.plot(columns[-len(shares) :], shares, MARKS[rung] + "-", color=COLOURS[rung], label=rung)
    axis_of_columns(axes, columns)
    axes.set_ylim(0, 1.1)
    axes.set_ylabel("speed, share of a copy")
    axes.legend(fontsize=8, loc="lower left")


def draw_bytes(axes):
    elements, rows = 1 << 27, [row for row in csv("h200-ncu.csv") if "bfloat16" not in row["function"]]
    sizes = sorted({int(row["columns"]) for row in rows})
    for i, rung in enumerate(COLOURS):
        found = {int(row["columns"]): row for row in rows if row["kernel"] == rung}
        moved = [(float(found[n]["read_MB"]) + float(found[n]["written_MB"])) * 1e6 / elements if n in found else 0 for n in sizes]
        axes.bar([x + (i - 2) * 0.16 for x in range(len(sizes))], moved, 0.16, color=COLOURS[rung], label=rung)
    for count in (8, 12, 16):
        axes.axhline(count, color=plots.LIGHT_QUIET, linewidth=0.8)
    axes.set_xticks(range(len(sizes)), labels=[str(n // 1024) for n in sizes])
    axes.set_xlabel("columns, Ki", fontsize=9)
    axes.set_ylabel("bytes of memory per element")
    axes.grid(axis="x", visible=False)


def draw_beside(axes, op):
    for dtype, style in (("float", "-"), ("bfloat16", "--")):
        rows = [row for row in csv("h200-torch.csv") if row["op"] == op and row["type"] == dtype]
        columns = [int(row["columns"]) for row in rows]
        for name, colour in (("ours", plots.BLUE), ("compiled", plots.ORANGE)):
            label = {"ours": "this lesson", "compiled": "torch.compile"}[name] + ", " + dtype
            axes.plot(columns, [float(row[name]) for row in rows], "o" + style, color=colour, markersize=3, label=label)
    axis_of_columns(axes, columns)
    axes.set_xticks(columns[::2], labels=[str(n // 1024) for n in columns[::2]])
    axes.set_ylim(0, 1.15)
    axes.set_title(op, fontsize=10)


def draw(figure, record):
    above, below = figure.subfigures(2, 1, height_ratios=[1.1, 1])
    ladder, moved = above.subplots(1, 2)
    draw_ladder(ladder, record)
    draw_bytes(moved)
    panels = below.subplots(1, 4, sharey=True)
    for axes, op in zip(panels, ("softmax", "softmax_backward", "rms_norm", "rms_norm_backward")):
        draw_beside(axes, op)
    panels[0].set_ylabel("speed, share of a copy")
    panels[0].legend(loc="lower left", fontsize=7)


plots.main(draw, "Speed of every rung over the number of columns; the bytes that each rung moves; and the last kernels beside torch.compile", size=(8.6, 7.4))
