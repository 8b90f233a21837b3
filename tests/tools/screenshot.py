"""Makes the README's pictures: of the trainer from a real session in a terminal, of a film and of the book from a browser.

build/python/bin/python3 tests/tools/screenshot.py > common/learn.svg
make see 04-21; make book; build/python/bin/python3 tests/tools/screenshot.py film common/film.png
build/python/bin/python3 tests/tools/screenshot.py book common/book.png
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

LESSON, WRONG = "04-kernels/21-transpose", "unpadded.cu"
CLASSES = {"1": "strong", "2": "quiet", "31": "bad", "32": "good", "36": "note"}  # of the codes that the trainer's styles become


def spans(line):
    """A line with codes for colors, as [(text, class)]."""
    found, name = [], ""
    for text, codes in re.findall(r"([^\x1b]*)(?:\x1b\[([0-9;]*)m|\x1b\[[0-9;]*[A-Za-z])?", line):
        if text:
            found.append((text, name))
        name = CLASSES.get(codes.split(";")[-1], "") if codes else name
    return found


PAGES = {"film": "see/04-21.html#film=tiled&step=305&lane=3", "book": "book/04-kernels/21-transpose/index.html"}


def browser_picture(what, out):
    from playwright.sync_api import sync_playwright

    from course.facts import facts

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(ROOT / facts()["CHROMIUM"]), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1180, "height": 740})
        page.goto(f"file://{ROOT}/build/{PAGES[what]}")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=out)
        browser.close()


def main():
    if len(sys.argv) == 3:
        return browser_picture(*sys.argv[1:])
    with tempfile.TemporaryDirectory() as place:
        folder = house(place, LESSON)
        trainer = Terminal(folder, "04-21", columns=90, lines=30)
        trainer.until("Your prediction:")
        trainer.type("twice as fast\r")
        trainer.until("You predicted:", "$ make 04-21", gone=["Building and running"])
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
