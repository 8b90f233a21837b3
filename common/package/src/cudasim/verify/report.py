"""What `cudasim verify` says: a table for each kernel, and the same as JSON."""

from __future__ import annotations

import dataclasses
from typing import Any

from cudasim.problem import Problem
from cudasim.verify import cases
from cudasim.verify.compare import Failure, failures
from cudasim.verify.data import Prepared, prepare
from cudasim.verify.declare import Kernel
from cudasim.verify.worker import LIMIT, run_all

HEADINGS = ("what fails", "where", "thread", "cases", "smallest case")


@dataclasses.dataclass
class Report:
    kernel: Kernel
    ran: int
    skipped: list[tuple[str, str]]  # case, why
    failures: list[Failure]

    @property
    def is_clean(self) -> bool:
        return not self.failures

    @property
    def failed(self) -> int:
        return len({str(failure.case) for failure in self.failures})

    def rows(self) -> list[tuple[str, ...]]:
        """Failures of the same kind at the same place are one row, which shows the smallest case."""
        groups: dict[tuple[str, str], list[Failure]] = {}
        for failure in self.failures:
            groups.setdefault((failure.what, failure.key), []).append(failure)
        return [(each[0].what, each[0].where, each[0].thread, str(len({str(one.case) for one in each})), str(each[0].case)) for each in groups.values()]

    def __str__(self) -> str:
        name = self.kernel.name
        if self.is_clean:
            lines = [f"{name}: all {self.ran} cases pass"]
        else:
            lines = [f"{name}: {self.failed} of {self.ran} cases {'fails' if self.failed == 1 else 'fail'}", *table([HEADINGS, *self.rows()])]
        reasons: dict[str, list[str]] = {}
        for case, why in self.skipped:
            reasons.setdefault(why, []).append(case)
        lines += [f"  left out: {'; '.join(left)}: {why}" for why, left in reasons.items()]
        return "\n".join(lines)

    def in_full(self) -> str:
        """The table, and the report of the simulator for each of its rows."""
        reports = {(failure.what, failure.key): failure for failure in reversed(self.failures) if failure.report}
        return "\n\n".join([str(self), *(f"{failure.case}: {failure.report}" for failure in reversed(reports.values()))])

    def as_json(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel.name,
            "cases": self.ran,
            "failed": self.failed,
            "skipped": [{"case": case, "why": why} for case, why in self.skipped],
            "failures": [failure.as_json() for failure in self.failures],
        }


def table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def verify(kernel: Kernel, limit: float = LIMIT) -> Report:
    """Runs all cases of a kernel. A declaration that does not fit the kernel is a Problem."""
    prepared: list[Prepared] = [prepare(kernel, case) for case in cases.cases(kernel)]
    report = Report(kernel, 0, [(str(each.case), each.skipped) for each in prepared if each.skipped], [])
    for each, outcome in run_all(kernel, prepared, limit):
        if outcome.problem:
            raise Problem(outcome.problem)
        if outcome.failed.startswith("cuMemAlloc"):
            report.skipped.append((str(each.case), f"there is not enough memory: {outcome.failed}"))
            continue
        report.ran += 1
        report.failures += failures(kernel, each, outcome)
    if not report.ran:
        raise Problem(f"{kernel.name}: no case ran. {'; '.join(dict.fromkeys(why for _, why in report.skipped))}")
    return report
