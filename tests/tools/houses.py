"""A course of its own in a temporary folder, for tests that edit exercises: one lesson is a copy, and everything else a link."""

import os
import pathlib
import shutil

from course import ROOT

SHARED = ("setup.mk", "toolkit", "catch2", "simulator", "python", "torch", "parsed", "flags.lessons", "flags.tests", "flags.torch")


def house(folder, *copied):
    """Makes it; `copied`: lessons. What is already built of them is copied with its times, so that make has little to do."""
    here = pathlib.Path(folder)
    for name in ("Makefile", "common", "tests"):
        (here / name).symlink_to(ROOT / name)
    for chapter in sorted(path.name for path in ROOT.glob("0?-*")):
        (here / chapter).mkdir()
        for entry in (ROOT / chapter).iterdir():
            if f"{chapter}/{entry.name}" in copied:
                shutil.copytree(entry, here / chapter / entry.name, symlinks=True)
            else:
                (here / chapter / entry.name).symlink_to(entry)
    (here / "build" / "tests").mkdir(parents=True)
    for name in SHARED:
        place = ROOT / "build" / name
        if name in ("parsed", "flags.lessons", "flags.tests", "flags.torch") and place.exists():  # make may write these
            copy = shutil.copytree if place.is_dir() else shutil.copy2
            copy(place, here / "build" / name)
        elif os.path.lexists(place):
            (here / "build" / name).symlink_to(place)
    for pattern in ("tests/catch_main.*", *(f"{place}" for lesson in copied for place in (f"tests/{lesson}.*", lesson))):
        for built in (ROOT / "build").glob(pattern):
            target = here / "build" / built.relative_to(ROOT / "build")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(built, target) if built.is_dir() else shutil.copy2(built, target)
    return here
