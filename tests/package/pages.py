"""What the pages of the package show: blocks of code, and commands with their output."""

import pathlib
import re

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "common/package"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (PACKAGE / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[tuple[str, str]]:
    """Each command that the page shows with its output."""
    return [tuple(block.removeprefix("$ ").split("\n", 1)) for block in blocks(page, "text") if block.startswith("$ ")]
