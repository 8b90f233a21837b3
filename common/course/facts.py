"""What set-up has found on this machine. It is kept in build/setup.mk, which make reads as it is; setup.py writes it."""

from __future__ import annotations

from course import ROOT

FILE = ROOT / "build" / "setup.mk"


def facts() -> dict[str, str]:
    """{name: value}; a value that is missing is empty. Without the file, nothing is known."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    return dict(line.split(" = ", 1) for line in lines if " = " in line)  # a file from before the second edition has no such line
