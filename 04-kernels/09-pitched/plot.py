# Draws how fast a kernel adds up whole rows, and parts of rows.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    whole, part = figure.subplots(1, 2)
    for axes, title, of_table in ((whole, "whole rows", "rows of 4004 bytes"), (part, "128 bytes of each row", "only 128 bytes")):
        rows = [(row["label"], row["values"][-1]) for row in record.rows if of_table in row["table"] and "loads" in row["label"]]
        colours = [plots.ORANGE if label.startswith("packed") else plots.BLUE for label, _ in rows]
        axes.bar([label.replace(", ", "\n").replace("-byte loads", " bytes") for label, _ in rows], [speed for _, speed in rows], 0.6, color=colours)
        axes.set_title(title)
        axes.set_ylabel("GB/s")
        axes.set_xlabel("rows and size of the loads")


plots.main(draw, "Bandwidth of a kernel on packed and on padded rows: padding helps only if the kernel reads parts of rows")
