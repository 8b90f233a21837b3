"""The simulator's reports, as a program prints them on stderr, read into findings."""

from __future__ import annotations

import dataclasses
import re

REPORT = re.compile(r"^========= simulated GPU: (?!profile )(.*)\n((?:  .*\n)*)", re.MULTILINE)
ROW = re.compile(r"^  (\S.{8})(\S.*(?:\n {11}.*)*)", re.MULTILINE)
PLACE = re.compile(r"([^\s(]+\.\w+:\d+)(?: \(called from ([^\s(]+\.\w+:\d+))?")


@dataclasses.dataclass(frozen=True)
class Finding:
    """One report: what is wrong, in which kernel, and at which lines of the source, most important first.

    A line of an inlined function is one of the `places`; `called_from` has the lines of kernels that call such functions.
    """

    title: str
    kernel: str
    places: tuple[str, ...]
    called_from: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]  # (heading, text) as in the report

    def __str__(self) -> str:
        return f"{self.title}{f' in {self.kernel}' if self.kernel else ''}{f' at {self.where}' if self.places else ''}"

    @property
    def where(self) -> str:
        called = f", called from {' and '.join(self.called_from)}" if self.called_from else ""
        return " and ".join(self.places) + called

    def as_json(self) -> dict[str, object]:
        return {
            "title": self.title,
            "kernel": self.kernel,
            "places": list(self.places),
            "called_from": list(self.called_from),
            "rows": [list(row) for row in self.rows],
        }


def findings(said: str) -> list[Finding]:
    """All findings in what a program wrote on stderr."""
    return [_finding(title, body) for title, body in REPORT.findall(said if said.endswith("\n") else said + "\n")]


def _finding(title: str, body: str) -> Finding:
    rows = tuple((head.strip(), re.sub(r"\n {11}", " ", text)) for head, text in ROW.findall(body))
    kernel = next((text for head, text in rows if head == "kernel"), "")
    lines = [line for head, text in rows if head in ("at", "thread", "loaded") for line in PLACE.findall(text)[:1]]
    places, called_from = (tuple(dict.fromkeys(line[part] for line in lines if line[part])) for part in (0, 1))
    return Finding(title, kernel, places, called_from, rows)
