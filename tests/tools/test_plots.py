"""Tests of the plots, and of the records that lessons keep: text, record and plot of a lesson belong to one run."""

import json
import pathlib
import re
import xml.etree.ElementTree

import pytest

import plots

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDS = sorted(ROOT.glob("0*/*/h200.json"))
MADE_UP = {
    "device": "NVIDIA Test",
    "driver": "1.2.3",
    "toolkit": "13.0",
    "date": "2026-01-02 03:04 UTC",
    "rows": [
        {"table": "copies, GB/s", "label": "4 KiB", "values": [0.5, 0.25]},
        {"table": "copies, GB/s", "label": "1 MiB", "values": [10.0, 40.0]},
        {"table": "a sum", "label": "all", "values": [7.0]},
    ],
    "output": ["latency: 8.5 µs"],
}


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps(MADE_UP), encoding="utf-8")
    return plots.Record(path)


def test_a_table_is_found_by_the_beginning_of_its_first_line(record):
    assert record.table("copies") == [("4 KiB", [0.5, 0.25]), ("1 MiB", [10.0, 40.0])]
    with pytest.raises(SystemExit, match="no table that begins with 'sums'"):
        record.table("sums")


def test_a_number_is_found_in_the_output(record):
    assert record.number(r"latency: ([\d.]+)") == 8.5
    assert record.number(r"bandwidth: ([\d.]+)") is None


def test_a_caption_names_pytorch_if_the_lesson_uses_it(tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps({**MADE_UP, "pytorch": "2.11.0+cu130"}), encoding="utf-8")
    assert plots.Record(path).caption() == "NVIDIA Test, driver 1.2.3, CUDA 13.0, PyTorch 2.11.0+cu130, 2026-01-02"


def test_sizes_are_read_and_written():
    assert plots.in_bytes("64 KiB") == 65536
    assert plots.short_bytes(65536) == "64 KiB"
    assert plots.short_bytes(3 << 29) == "1.5 GiB"


def test_a_plot_has_text_a_caption_and_colours_for_both_pages(record, tmp_path):
    pytest.importorskip("matplotlib")

    def draw(figure, record):
        axes = figure.subplots()
        sizes = [plots.in_bytes(label) for label, _ in record.table("copies")]
        axes.plot(sizes, [values[0] for _, values in record.table("copies")], color=plots.BLUE)
        plots.axis_of_bytes(axes, sizes)
        plots.axis_of_decades(axes.yaxis, "GB/s")

    drawn = []
    for name in ("one.svg", "two.svg"):
        plots.draw_to(draw, record, tmp_path / name, "A made-up plot")
        drawn.append((tmp_path / name).read_text(encoding="utf-8"))
    assert drawn[0] == drawn[1]
    shown = ["".join(element.itertext()).strip() for element in xml.etree.ElementTree.fromstring(drawn[0]).iter() if element.tag.endswith("}text")]
    assert "NVIDIA Test, driver 1.2.3, CUDA 13.0, 2026-01-02" in shown
    assert {"4 KiB", "1 MiB", "GB/s"} <= set(shown)
    assert "prefers-color-scheme: dark" in drawn[0]
    assert f'[style*="stroke: {plots.BLUE}"]' in drawn[0]


def of_lesson(path):
    return f"{path.parent.parent.name}/{path.parent.name}"


@pytest.mark.parametrize("path", RECORDS, ids=of_lesson)
def test_a_lesson_shows_the_output_of_its_record(path):
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kept["lesson"] == of_lesson(path)
    blocks = re.findall(r"```console\n\$ make [^\n]*\n(.*?)\n```", (path.parent / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    output = "\n".join(kept["output"])
    # A line of only … stands for any lines.
    patterns = [r"\n(?:.*\n)*?".join(re.escape(part) for part in re.split(r"\n…\n", f"\n{block}\n")) for block in blocks]
    assert any(re.fullmatch(pattern, f"\n{output}\n") for pattern in patterns)


@pytest.mark.parametrize("path", RECORDS, ids=of_lesson)
def test_a_plot_names_the_device_driver_and_date_of_its_record(path):
    drawn = path.with_suffix(".svg").read_text(encoding="utf-8")
    assert plots.Record(path).caption() in drawn
    assert f"]({path.stem}.svg)" in (path.parent / "README.md").read_text(encoding="utf-8")
