# Draws the kernels for two problems, the kernels in the roofline, and the last kernels beside PyTorch for all sizes.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

PRODUCTS = 551_600  # GFLOP/s of mma instructions alone (04-25): measured on the same H200
GROUP = 4  # heads of q for each head of k and v


def sizes():
    """The rows of the comparison with PyTorch, as dictionaries."""
    lines = (pathlib.Path(__file__).parent / "h200-torch.csv").read_text(encoding="utf-8").splitlines()
    names, *rows = [line.split(",") for line in lines if not line.startswith("#")]
    return [{name: float(value) for name, value in zip(names, row)} for row in rows]


def rungs(record, title):
    """[(name, MB, µs)]"""
    return [(label.split()[0], values[0], values[1]) for label, values in record.table(title) if len(values) == 5]


def draw_ladder(axes, rows, title):
    names = ["control" if name == "(control)" else name for name, _, _ in rows]
    times = [time for _, _, time in rows]
    axes.barh(names, times, height=0.65, color=[plots.LIGHT_QUIET if name == "control" else plots.BLUE for name in names])
    for row, time in enumerate(times):
        axes.annotate(f"{time:.0f}", (time, row), (5, 0), textcoords="offset points", va="center", color=plots.LIGHT_INK, fontsize=9)
    axes.set_xlim(right=1.15 * max(times))
    axes.set_ylim(len(names) - 0.5, -0.6)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("µs")
    axes.grid(axis="y", visible=False)


def draw_roofline(axes, rows, bandwidth):
    """Each byte of the cache is loaded from memory once, and GROUP heads use it: for each, an element of bfloat16 takes 2 FLOP."""
    plots.roofline(axes, bandwidth, PRODUCTS, 0.5, 1000)
    axes.xaxis.set_major_locator(plots.matplotlib.ticker.LogLocator())
    found = {name: (megabytes, time) for name, megabytes, time in rows}
    for name, intensity, colour in (("(control)", GROUP, plots.RED), ("even", GROUP, plots.BLUE), ("fp8", 2 * GROUP, plots.GREEN)):
        megabytes, time = found[name]
        speed = intensity * megabytes / time * 1e3  # GFLOP/s
        axes.plot(intensity, speed, "o", color=colour)
        shift, side = ((-7, 5), "right") if name == "even" else ((7, -10), "left")
        axes.annotate(name.strip("()"), (intensity, speed), shift, textcoords="offset points", ha=side, color=colour, fontsize=9)
    axes.set_ylim(1e3, 2e6)
    axes.set_title("16 requests of 16 Ki keys", fontsize=10, pad=14)


def draw_sizes(axes, requests):
    rows = [row for row in sizes() if row["requests"] == requests]
    keys = [row["keys"] for row in rows]
    series = (("cuDNN", plots.GREEN, "^:"), ("flash", plots.ORANGE, "s--"), ("ours", plots.BLUE, "o-"))
    for name, colour, style in series:
        speeds = [requests * row["keys"] * 4096 / row[name] / 1e6 for row in rows]
        axes.plot(keys, speeds, style, color=colour, label={"ours": "this lesson"}.get(name, name))
    axes.set_xscale("log", base=2)
    axes.set_xticks(keys, labels=[f"{side / 1024:.0f} Ki" for side in keys], fontsize=9)
    axes.xaxis.set_minor_locator(plots.matplotlib.ticker.NullLocator())
    axes.set_ylim(0, 5)
    axes.set_title(f"{requests} request{'s' if requests > 1 else ''}", fontsize=10)
    axes.set_xlabel("keys", fontsize=9)


def draw(figure, record):
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1])
    one, ragged, roof = above.subplots(1, 3, width_ratios=[1, 1, 0.9])
    draw_ladder(one, rungs(record, "1 request of 65536 keys"), "1 request of 64 Ki keys")
    draw_ladder(ragged, rungs(record, "16 requests of 1024 to 65536 keys"), "15 requests of 1 Ki, 1 of 64 Ki")
    draw_roofline(roof, rungs(record, "16 requests of 16384 keys"), 1e3 * dict(record.table("16 requests of 16384 keys"))["reading the cache, pages"][2])
    panels = below.subplots(1, 4, sharey=True)
    for axes, requests in zip(panels, (1, 4, 16, 64)):
        draw_sizes(axes, requests)
    panels[0].set_ylabel("TB/s of keys and values")
    panels[0].legend(loc="lower right", fontsize=8)


plots.main(draw, "Time of each kernel for two problems; kernels in the roofline; and the last kernel beside PyTorch for all sizes", size=(9.6, 7.4))
