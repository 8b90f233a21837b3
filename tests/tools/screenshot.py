"""Makes the README's pictures: of the trainer and of a model that writes, from a terminal; of a film and of the book, from a browser.

build/python/bin/python3 tests/tools/screenshot.py > common/learn.svg
make see 04-21; make book; build/python/bin/python3 tests/tools/screenshot.py film common/film.png
build/python/bin/python3 tests/tools/screenshot.py book common/book.png
build/python/bin/python3 tests/tools/screenshot.py text common/text.svg
"""

import pathlib
import re
import shutil
import subprocess
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


def text_picture(out, columns=84):
    """What the model of 05-17 writes on the simulated GPU, in a terminal with so many columns."""
    words = [f"--write '{prompt}' 240 0.4 {seed}" for prompt, seed in (("The kernel ", 1), ("If you ", 2))]
    lines = []
    for word in words:
        command = ["make", "05-17", f'ARGS="{word}"']
        printed = subprocess.run([*command[:2], f"ARGS={word}", "DEVICE=simulator"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
        wrapped = [line[at : at + columns] for line in printed for at in range(0, max(len(line), 1), columns)]
        lines += [[("$ " + " ".join(command), "strong")], *wrapped, ""]
    pathlib.Path(out).write_text(picture.screen("A model of lesson 05-17 writes two texts", lines[:-1]) + "\n", encoding="utf-8")
    return None


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "text":
        return text_picture(sys.argv[2])
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
