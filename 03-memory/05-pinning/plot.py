# Draws the bandwidths of pageable memory and of every kind of pinned memory.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

PANELS = [
    ("copy to the device", [(2, "in the context that allocated it", plots.BLUE), (3, "in another context", plots.ORANGE)]),
    ("the host, one thread", [(0, "writes", plots.GREEN), (1, "reads", plots.PURPLE)]),
]


def draw(figure, record):
    rows = record.table("| GB/s")
    heights = range(len(rows), 0, -1)
    for side, (title, columns) in zip(figure.subplots(1, 2, sharey=True), PANELS):
        for offset, (column, name, colour) in zip((0.2, -0.2), columns):
            values = [values[column] for _, values in rows]
            side.barh([height + offset for height in heights], values, 0.36, color=colour, label=name)
        side.set_title(title)
        side.set_xlabel("GB/s")
        side.set_yticks(list(heights), labels=[label for label, _ in rows])
        side.grid(axis="y", visible=False)
        side.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18))


plots.main(draw, "Bandwidths of pageable memory and four kinds of pinned memory: copies to the device, host writes, host reads")
