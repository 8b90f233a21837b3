"""make clean: removes what was built. Answers to exercises and downloads stay."""

import os
import pathlib
import pwd
import shutil
import sys
from collections.abc import Sequence

from course import ROOT


def main(words: Sequence[str] = ()) -> int:
    build = ROOT / "build"
    for entry in build.iterdir() if build.exists() else []:
        if entry.name == "downloads":
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    left = [path for path in (build.rglob("*") if build.exists() else []) if path.relative_to(build).parts[0] != "downloads"]
    if left:
        sys.exit(f"Not all of build/ could be removed: {pathlib.Path(left[0]).relative_to(ROOT)} belongs to {owner(left[0])}.")
    print("removed build/; your answers and the downloads are kept")
    return 0


def owner(path: pathlib.Path) -> str:
    try:
        return pwd.getpwuid(os.lstat(path).st_uid).pw_name
    except KeyError:
        return f"user {os.lstat(path).st_uid}"
