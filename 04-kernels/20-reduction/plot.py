# Draws the bandwidth of every rung and the peak, and the rungs on the roofline.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plots  # noqa: E402


def draw(figure, record):
    axes, roof = figure.subplots(1, 2, width_ratios=[2, 1])
    names, speeds = [], []
    for line in record.output[3:]:
        words = line.split()
        names.append(words[0] + (", float" if "float" in line else ""))
        speeds.append(float([word for word in words if word.replace(".", "").isdigit() and "." in word][0]))
    peak = record.number(r"peak bandwidth (\d+)")
    axes.barh(names, speeds, color=plots.BLUE, height=0.65)
    axes.axvline(peak, color=plots.LIGHT_INK)
    axes.annotate(f"peak {peak:.0f}", (peak, -0.9), (-6, 0), textcoords="offset points", ha="right", va="center")
    for row, speed in enumerate(speeds):
        inside = speed > 0.8 * peak
        axes.annotate(
            f"{speed:.0f}",
            (speed, row),
            (-5 if inside else 5, 0),
            textcoords="offset points",
            ha="right" if inside else "left",
            va="center",
            color="white" if inside else plots.LIGHT_INK,
        )
    axes.set_ylim(len(names) - 0.5, -1.4)
    axes.set_xlabel("GB/s")
    axes.grid(axis="y", visible=False)

    intensity = 1 / 4  # one addition for every 4 bytes
    ends = [intensity / 4, intensity * 4]
    roof.plot(ends, [end * peak for end in ends], color=plots.LIGHT_INK)
    roof.annotate("peak bandwidth\n× intensity", (ends[0], ends[1] * peak), (4, -2), textcoords="offset points", va="top")
    roof.plot([intensity] * len(speeds), [intensity * speed for speed in speeds], "o", color=plots.BLUE)
    roof.set_xlim(*ends)
    plots.axis_of_decades(roof.xaxis, "FLOP/byte")
    plots.axis_of_decades(roof.yaxis, "GFLOP/s")


plots.main(
    draw, "Bandwidth of every kernel of the reduction ladder, and the peak bandwidth; on the roofline, all rungs are at a quarter of an addition per byte"
)
