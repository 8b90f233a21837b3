# Draws how long NMS takes in each of the ways, for three sets of boxes.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402

WAYS = {"nms": plots.BLUE, "box by box": plots.ORANGE, "torchvision": plots.PURPLE}


def draw(figure, record):
    axes = figure.subplots()
    at, places = 0.0, {}
    for name in ("around 10000 objects", "around 100 objects", "in a chain"):
        times = {label: values[0] for label, values in record.table(f"10000 boxes {name}")}
        shown = {way: times[way] for way in WAYS if way in times}
        places[name] = at + (len(shown) - 1) / 2
        for way, time in shown.items():
            axes.barh(at, time, color=WAYS[way], height=0.8)
            axes.annotate(f"{time:.2f}  {way}", (time, at), (4, 0), textcoords="offset points", va="center")
            at += 1
        at += 0.7
    axes.set_yticks(list(places.values()), list(places))
    axes.invert_yaxis()
    axes.set_xlim(0, 4.6)
    axes.set_xlabel("ms for 10,000 boxes")
    axes.grid(axis="y", visible=False)


plots.main(draw, "How long NMS of 10,000 boxes takes: ours, box by box, and torchvision's")
