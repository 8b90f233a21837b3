"""Names the mistake in a wrong submission: the kept wrong solution that fails in the same way.

tests/NN-chapter/MM-name.wrong/ has, for each exercise, solutions with a plausible mistake. Two of them fail in the same way if the same test
cases reject them. Where several kept solutions do, the messages decide, and then the words of the source.
"""

from __future__ import annotations

import collections
import dataclasses
import re

from course.cases import UNFINISHED as ENDED

UNFINISHED = "not changed in effect"
ALIKE = 0.6  # how much of two sources must be equal where the failures alone do not tell


@dataclasses.dataclass
class Known:
    """A solution whose mistake is known, and how the check rejected it."""

    name: str  # 'never made current'
    why: str  # what its first lines say about it
    failures: dict[str, str]  # {test case: message}
    source: str


def name_of(stem: str) -> str:
    """never-made-current is 'never made current'."""
    return stem.replace("-", " ").replace("_", " ")


def explanation(source: str) -> str:
    """The comment at the head of a kept wrong solution, without the line that names the test case."""
    lines = []
    for line in source.splitlines():
        if not line.startswith(("//", "#")) or line.startswith("#include"):
            break
        if "Rejected with:" not in line:
            lines.append(line.lstrip("/# ").strip())
    return " ".join(lines)


def normalized(message: str) -> str:
    """A failure's message without what differs from run to run: addresses, long numbers, places in the submission, times."""
    message = re.sub(r"0x[0-9a-fA-F]+", "0x…", message)
    message = re.sub(r"\b(?:exercise|answer)\.(?:cpp|cu|py):\d+", "the answer", message)
    return re.sub(r"\d{4,}|\d+\.\d+", "…", message)


def words_of(source: str) -> collections.Counter[str]:
    """The words and signs of a program, without comments: how often each occurs."""
    source = re.sub(r"//[^\n]*|/\*.*?\*/|^\s*#(?!include|define)[^\n]*", " ", source, flags=re.DOTALL | re.MULTILINE)
    return collections.Counter(re.findall(r"\w+|[^\w\s]", source))


def similarity(one: str, other: str) -> float:
    """From 0, nothing in common, to 1, the same words equally often."""
    first, second = words_of(one), words_of(other)
    total = sum(first.values()) + sum(second.values())
    return 2 * sum((first & second).values()) / total if total else 1.0


def agreement(one: dict[str, str], other: dict[str, str]) -> float:
    """The share of the test cases whose messages are equal; both fail the same ones."""
    same = sum(normalized(one[name]) == normalized(other[name]) for name in one)
    return same / len(one) if one else 1.0


def match(failures: dict[str, str], source: str, known: list[Known], cases: int) -> Known | None:
    """The kept solution that failed as this one did, or None. `cases`: how many test cases there are."""
    candidates = [each for each in known if each.failures and set(each.failures) == set(failures)]
    ranked = sorted(candidates, key=lambda each: (agreement(failures, each.failures), similarity(source, each.source)), reverse=True)
    if not ranked:
        return None
    best = ranked[0]
    # A submission that fails everything, or that crashes, looks like every other one that does: then the source has to be alike, too.
    says_little = len(failures) == cases or all(ENDED in message or "during this test case" in message for message in failures.values())
    if says_little and agreement(failures, best.failures) < 1 and similarity(source, best.source) < ALIKE:
        return None
    return best
