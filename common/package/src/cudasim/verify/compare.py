"""Compares the results of a kernel with those of its reference, and collects what is wrong in a case."""

from __future__ import annotations

import dataclasses
import re

import numpy as np

from cudasim.findings import Finding
from cudasim.verify.cases import Case
from cudasim.verify.data import Prepared
from cudasim.verify.declare import Array, In, Kernel
from cudasim.verify.dtypes import Type
from cudasim.verify.memory import UNWRITTEN
from cudasim.verify.worker import Outcome

THREAD = re.compile(r"\(\d+,\d+,\d+\) of block \(\d+,\d+,\d+\)")


@dataclasses.dataclass(frozen=True)
class Failure:
    """One thing that is wrong in one case."""

    case: Case
    what: str
    where: str = ""  # lines of the source, or elements of a result
    thread: str = ""
    report: str = ""  # the simulator's, in full
    key: str = ""  # failures with the same key are one line of the table

    def as_json(self) -> dict[str, str]:
        return {"case": str(self.case), "what": self.what, "where": self.where, "thread": self.thread, "report": self.report}


def element(array: str, index: int, shape: tuple[int, ...]) -> str:
    return f"{array}[{', '.join(str(int(each)) for each in np.unravel_index(index, shape))}]"


def differing(got: np.ndarray, want: np.ndarray, type: Type, relative: float, absolute: float) -> np.ndarray:
    """Which elements are further apart than allowed. NaN equals NaN, and an infinity equals itself."""
    if not type.is_float:
        return got != want
    with np.errstate(all="ignore"):
        close = np.abs(got - want) <= absolute + relative * np.abs(want)
    return ~((close & np.isfinite(want)) | (got == want) | (np.isnan(got) & np.isnan(want)))


def shown(value: object) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def wrong_result(kernel: Kernel, array: Array, prepared: Prepared, stored: np.ndarray) -> Failure | None:
    got, want = array.type.load(stored).ravel(), prepared.expected[array.name].ravel()
    off = np.flatnonzero(differing(got, want, array.type, *kernel.tolerance(array.type)))
    if not off.size:
        return None
    first = int(off[0])
    bytes_of = np.ascontiguousarray(stored).view(np.uint8).reshape(got.size, array.type.size)
    if array.type.size > 1 and not array.reads and (missed := off[(bytes_of[off] == UNWRITTEN).all(axis=1)]).size:
        many = f" ({missed.size} of {got.size} elements)" if got.size > 1 else ""
        return Failure(prepared.case, "not written", element(array.name, int(missed[0]), stored.shape) + many, key=array.name)
    many = f" ({off.size} of {got.size} elements {'differs' if off.size == 1 else 'differ'})" if got.size > 1 else ""
    text = f"{element(array.name, first, stored.shape)} is {shown(got[first].item())}, expected {shown(want[first].item())}{many}"
    loses_nan = bool(np.isnan(want[off]).all()) if array.type.is_float else False
    return Failure(prepared.case, "NaN is lost" if loses_nan else "wrong result", text, key=array.name)


def changed_input(array: Array, prepared: Prepared, stored: np.ndarray) -> Failure | None:
    before = prepared.stored[array.name]
    off = np.flatnonzero(before.reshape(-1).view(np.uint8) != np.ascontiguousarray(stored).reshape(-1).view(np.uint8))
    if not off.size:
        return None
    return Failure(prepared.case, "an input was changed", element(array.name, int(off[0]) // array.type.size, stored.shape), key=array.name)


def of_finding(prepared: Prepared, finding: Finding) -> Failure:
    text = "\n".join(f"  {head:<8} {row}" for head, row in finding.rows)
    threads = dict.fromkeys(thread for head, row in finding.rows if head == "thread" for thread in THREAD.findall(row))
    where = finding.where or next((row for head, row in finding.rows if head == "at"), "")
    key = " ".join(sorted({*finding.places, *finding.called_from})) or where
    return Failure(prepared.case, finding.title, where, " and ".join(threads), f"{finding.title}\n{text}", key=key)


def failures(kernel: Kernel, prepared: Prepared, outcome: Outcome) -> list[Failure]:
    """All that is wrong in a case: the simulator's findings first, because a wrong result often follows from them."""
    found = [of_finding(prepared, finding) for finding in outcome.found]
    if outcome.failed and not found:
        found.append(Failure(prepared.case, outcome.failed, key=outcome.failed))
    for array in kernel.arrays:
        if array.name not in outcome.got:
            continue
        if array.writes and (wrong := wrong_result(kernel, array, prepared, outcome.got[array.name])):
            found.append(wrong)
        elif isinstance(array, In) and (changed := changed_input(array, prepared, outcome.got[array.name])):
            found.append(changed)
        if array.name in outcome.overrun:
            byte = outcome.overrun[array.name]
            found.append(Failure(prepared.case, "a write between the elements", f"byte {byte} of the allocation of {array.name}", key=array.name))
    return found
