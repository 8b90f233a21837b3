# What the plots of the attention kernels share: the tables beside a record, and the last kernel beside PyTorch for all sizes.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import plots  # noqa: E402


def csv(folder, name):
    """The rows of a file, as dictionaries."""
    lines = (pathlib.Path(folder) / name).read_text(encoding="utf-8").splitlines()
    names, *rows = [line.split(",") for line in lines if not line.startswith("#")]
    return [dict(zip(names, row)) for row in rows]


def draw_sizes(figure, folder, top=620):
    """One panel for every number of elements in a row, with and without a causal mask."""
    panels = figure.subplots(1, 4, sharey=True)
    for axes, (elements, causal) in zip(panels, ((64, False), (64, True), (128, False), (128, True))):
        draw_panel(axes, csv(folder, "h200-torch.csv"), elements, causal, top)
    panels[0].set_ylabel("TFLOP/s")
    panels[0].legend(loc="lower right", fontsize=8)


def draw_panel(axes, table, elements, causal, top):
    rows = [row for row in table if row["elements"] == str(elements) and row["causal"] == str(int(causal))]
    n = [int(row["n"]) for row in rows]
    series = (("cuDNN", plots.GREEN, "^:"), ("flash", plots.ORANGE, "s--"), ("ours", plots.BLUE, "o-"))
    for name, colour, style in series:
        axes.plot(n, [float(row[name]) for row in rows], style, color=colour, label={"ours": "this lesson"}.get(name, name))
    axes.set_xscale("log", base=2)
    axes.set_xticks(n, labels=[f"{side // 1024} Ki" for side in n], fontsize=9)
    axes.xaxis.set_minor_locator(plots.matplotlib.ticker.NullLocator())
    axes.set_ylim(0, top)
    axes.set_title(f"d = {elements}, {'causal' if causal else 'full'}", fontsize=10)
    axes.set_xlabel("queries and keys", fontsize=9)
