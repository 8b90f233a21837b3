"""Draws the README's picture of the trainer, from a real session in a terminal:

    build/python/bin/python3 tests/tools/screenshot.py > common/learn.svg
"""

import pathlib
import re
import shutil
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "common")]

from course import ROOT, picture
from houses import house
from test_learn import Terminal

LESSON, WRONG = "04-kernels/11-transpose", "unpadded.cu"
CLASSES = {"1": "strong", "2": "quiet", "31": "bad", "32": "good", "36": "note"}  # of the codes that the trainer's styles become


def spans(line):
    """A line with codes for colors, as [(text, class)]."""
    found, name = [], ""
    for text, codes in re.findall(r"([^\x1b]*)(?:\x1b\[([0-9;]*)m|\x1b\[[0-9;]*[A-Za-z])?", line):
        if text:
            found.append((text, name))
        name = CLASSES.get(codes.split(";")[-1], "") if codes else name
    return found


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = house(place, LESSON)
        trainer = Terminal(folder, "04-11", columns=90, lines=30)
        trainer.until("Your prediction:")
        trainer.type("twice as fast\r")
        trainer.until("You predicted:", "$ make 04-11", gone=["Building and running"])
        trainer.type("\r")
        trainer.until("watching")
        shutil.copy(ROOT / "tests" / f"{LESSON}.wrong" / WRONG, folder / LESSON / "exercise.cu")
        trainer.until("judged in", "1 more waits for this one")
        trainer.type("h")
        trainer.until("Hint:", "judged in")
        shown = trainer.shown.rpartition("\x1b[H")[2].partition("\x1b[J")[0].replace("\r", "")
        trainer.close()
    print(picture.screen("The trainer: make learn", [spans(line) for line in shown.split("\n")]))


if __name__ == "__main__":
    main()
