# Draws the speed of every kernel, the errors of sums of e4m3, and the last kernels beside PyTorch's.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

PAIRS = (("int8_wgmma", "torch_int8"), ("fp8_rows", "torch_fp8_fast"), ("promoted", "torch_fp8"), ("blocks", "torch_blocks"))


def beside_torch(n):
    """The speeds of the products of this size in the comparison with PyTorch."""
    lines = (pathlib.Path(__file__).parent / "h200-torch.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if line[0].isdigit()]
    return {name: float(speed) for size, name, speed, _ in rows if int(size) == n}


def draw_ladder(axes, rungs):
    names = [label.split()[0] for label, _ in rungs]
    colours = [plots.BLUE if len(values) == 5 and name != "fp8_one" else plots.LIGHT_QUIET for name, (_, values) in zip(names, rungs)]
    axes.barh(names, [values[-2] for _, values in rungs], height=0.65, color=colours)
    for row, (_, values) in enumerate(rungs):
        error = f", error {values[0]:.1f}%" if len(values) == 5 else ", bfloat16"
        text = f"{values[-2]:.0f} TFLOP/s at {values[-1]:.2f} GHz{error}"
        axes.annotate(text, (values[-2], row), (5, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK, fontsize=9)
    axes.set_xlim(0, 2100)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("TFLOP/s")
    axes.grid(axis="y", visible=False)


def draw_sums(axes, sums):
    products = [int(label.split()[0]) for label, _ in sums]
    for column, colour, style, name in ((2, plots.RED, "o-", "positive"), (4, plots.ORANGE, "s-", "both signs"), (3, plots.BLUE, "^--", "positive, promoted")):
        points = [(n, values[column]) for n, (_, values) in zip(products, sums) if values[column] > 0]
        axes.plot(*zip(*points), style, color=colour, label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(products[1::2], labels=[f"{n}" if n < 1024 else f"{n // 1024} Ki" for n in products[1::2]], fontsize=9)
    axes.xaxis.set_minor_locator(plots.matplotlib.ticker.NullLocator())
    axes.set_yscale("log")
    axes.set_xlabel("products of a sum")
    axes.set_ylabel("error, %")
    axes.legend(loc="upper left", fontsize=8)


def draw_pairs(axes, n):
    speeds = beside_torch(n)
    for offset, column, colour, label in ((-0.2, 1, plots.GREEN, "PyTorch"), (0.2, 0, plots.BLUE, "this lesson")):
        axes.bar([x + offset for x in range(len(PAIRS))], [speeds[pair[column]] for pair in PAIRS], 0.38, color=colour, label=label)
    for x, (ours, theirs) in enumerate(PAIRS):
        axes.annotate(
            f"{speeds[ours] / speeds[theirs]:.2f}", (x, max(speeds[ours], speeds[theirs])), (0, 3), textcoords="offset points", ha="center", fontsize=9
        )
    axes.axhline(speeds["torch_bfloat16"], color=plots.LIGHT_INK, linestyle=":", label="PyTorch, bfloat16")
    axes.set_xticks(range(len(PAIRS)), labels=[ours.split("_")[0] for ours, _ in PAIRS], fontsize=9)
    axes.set_ylim(0, 1800)
    axes.set_title(f"{n} × {n} × {n}", fontsize=10)
    axes.set_ylabel("TFLOP/s")
    axes.legend(loc="upper right", fontsize=8, ncols=3)
    axes.grid(axis="x", visible=False)


def draw(figure, record):
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1])
    draw_ladder(above.subplots(), record.table("8192 x 8192"))
    left, right = below.subplots(1, 2)
    draw_sums(left, record.table("sums of e4m3"))
    draw_pairs(right, 8192)


plots.main(draw, "Speed of every kernel; errors of sums of e4m3; and the kernels beside PyTorch", size=(8.6, 7.2))
