"""Runs cases in a process of its own. A worker ends with the first case in which something was found, because a fault stays with its context and the
simulator reports each finding once; the next worker goes on with the case after it. A crash ends one case, too."""

from __future__ import annotations

import dataclasses
import faulthandler
import os
import pickle
import select
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from cudasim.findings import Finding, findings
from cudasim.problem import Problem
from cudasim.verify.compiled import Compiled, compiled
from cudasim.verify.data import Prepared
from cudasim.verify.declare import Array, Kernel, Scalar
from cudasim.verify.driver import POINTER, Driver, Failed, Function, packed
from cudasim.verify.memory import FILL

CHECKS = "memory,race,init,sync"
LIMIT = 60.0  # seconds for one case
SETTINGS = {
    "CUDASIM_CHECK": CHECKS,
    "CUDASIM_MEMORY": "256G",  # of addresses: the distant layout touches a few pages of them
    "CUDASIM_BUDGET": os.environ.get("CUDASIM_BUDGET", "20000000"),  # warp instructions of one block, a few seconds with all checks
    "CUDASIM_QUIET": "1",
}


@dataclasses.dataclass
class Outcome:
    """What happened in a case."""

    found: list[Finding] = dataclasses.field(default_factory=list)
    got: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)  # the stored elements of each array
    overrun: dict[str, int] = dataclasses.field(default_factory=dict)  # array → a byte between its elements that was written
    failed: str = ""  # the call that failed, or how the process ended
    problem: str = ""  # why the kernel does not fit its declaration
    said: str = ""

    @property
    def is_clean(self) -> bool:
        return not (self.found or self.failed or self.problem)


# ---- In the worker


class Worker:
    def __init__(self, kernel: Kernel, said: IO[bytes]):
        self.kernel, self.said, self.read_until = kernel, said, os.fstat(said.fileno()).st_size
        self.driver = Driver()
        self.functions: dict[tuple[bytes, str], Function] = {}

    def new_text(self) -> str:
        text = os.pread(self.said.fileno(), 1 << 24, self.read_until)
        self.read_until += len(text)
        return text.decode("utf-8", "replace")

    def function(self, made: Compiled) -> Function:
        key = (made.ptx, made.entry)
        if key not in self.functions:
            try:
                self.functions[key] = self.driver.load(made.ptx, made.entry)
            except Failed as why:
                raise Problem(f"the simulator cannot load {self.kernel.name}: {why}. {self.new_text().strip()}") from None
        return self.functions[key]

    def run(self, prepared: Prepared, made: Compiled) -> Outcome:
        outcome, addresses = Outcome(), {}
        try:
            function = self.function(made)
            for array in self.kernel.arrays:
                addresses[array.name] = self.place(array, prepared)
            self.new_text()
            values = self.arguments(made, function.parameter_sizes(), prepared, addresses)
            function.launch(prepared.grid, made.block, made.shared, values)
            self.driver.synchronize()
            outcome.said = self.new_text()
            self.collect(prepared, addresses, outcome)
            outcome.said += self.new_text()
            for address in addresses.values():
                self.driver.free(address)
        except Failed as why:
            outcome.failed = str(why)
        except Problem as why:
            outcome.problem = str(why)
        outcome.said += self.new_text()
        outcome.found = [finding for finding in findings(outcome.said) if not is_about_result(finding)]
        return outcome

    def place(self, array: Array, prepared: Prepared) -> int:
        layout = prepared.layouts[array.name]
        address = self.driver.allocate(layout.total)
        stored = prepared.stored.get(array.name)
        if stored is not None:
            flat = np.ascontiguousarray(stored).reshape(-1)
            for at, first, count in layout.runs():
                self.driver.write(address + at, flat[first : first + count])
        if array.writes:
            for at, size in layout.gaps():
                self.driver.write(address + at, np.full(size, FILL, np.uint8))
        return address

    def arguments(self, made: Compiled, sizes: list[int], prepared: Prepared, addresses: dict[str, int]) -> list[bytes]:
        if len(sizes) != len(made.parameters) and not (made.adds_pointers and len(sizes) > len(made.parameters)):
            raise Problem(f"the kernel {made.entry} has {len(sizes)} parameters, but the reference {self.kernel.name} declares {len(made.parameters)}")
        declared = {each.name: each for each in self.kernel.parameters}
        values = []
        for name, size in zip(made.parameters, sizes):
            each = declared[name]
            if isinstance(each, Array):
                layout = prepared.layouts[name]
                value = (addresses[name] + layout.first if addresses[name] else 0).to_bytes(POINTER, "little")
            elif isinstance(each, Scalar):
                value = prepared.scalars[name].tobytes()
            else:
                value = packed(name, prepared.scalars[name], size)
            if len(value) != size:
                raise Problem(f"{name} is declared as {type(each).__name__} with {len(value)} bytes, but the kernel's parameter has {size}")
            values.append(value)
        return values + [bytes(size) for size in sizes[len(values) :]]

    def collect(self, prepared: Prepared, addresses: dict[str, int], outcome: Outcome) -> None:
        for array in self.kernel.arrays:
            layout, address = prepared.layouts[array.name], addresses[array.name]
            flat = np.zeros(layout.count, array.type.stored)
            for at, first, count in layout.runs():
                self.driver.read(address + at, flat[first : first + count])
            outcome.got[array.name] = flat.reshape(layout.shape)
            for at, size in layout.gaps() if array.writes else []:
                gap: Any = np.zeros(size, np.uint8)
                self.driver.read(address + at, gap)
                if (gap != FILL).any():
                    outcome.overrun.setdefault(array.name, at + int(np.flatnonzero(gap != FILL)[0]))


def is_about_result(finding: Finding) -> bool:
    """Is it about elements that the kernel has not written? The comparison reports them by their indices."""
    heads = [head for head, _ in finding.rows]
    return finding.title == "use of memory never written" and "kernel" not in heads and "loaded" not in heads


def work(kernel: Kernel, todo: list[tuple[int, Prepared, Compiled]], said: IO[bytes], pipe: int) -> None:
    """Sends an Outcome for each case, until one is not clean."""
    faulthandler.disable()  # the parent reports a crash
    os.environ.update(SETTINGS)
    os.dup2(said.fileno(), 1)
    os.dup2(said.fileno(), 2)
    worker = Worker(kernel, said)
    for number, prepared, made in todo:
        outcome = worker.run(prepared, made)
        data = pickle.dumps((number, outcome))
        os.write(pipe, struct.pack("<Q", len(data)))
        sent = 0
        while sent < len(data):
            sent += os.write(pipe, data[sent : sent + 65536])
        if not outcome.is_clean:
            break


# ---- In the process that reports


def run_all(kernel: Kernel, prepared: list[Prepared], limit: float = LIMIT) -> Iterator[tuple[Prepared, Outcome]]:
    """Each case that has something to run, with its outcome."""
    todo = [(number, each, compiled(kernel, each)) for number, each in enumerate(prepared) if not each.skipped]
    while todo:
        with tempfile.TemporaryFile() as said:
            reader, writer = os.pipe()
            sys.stdout.flush()
            sys.stderr.flush()
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    os.close(reader)
                    work(kernel, todo, said, writer)
                    status = 0
                except BaseException:  # the parent reports how the worker ended
                    import traceback

                    traceback.print_exc()
                finally:
                    os._exit(status)
            os.close(writer)
            done = 0
            try:
                for number, outcome in outcomes(reader, limit):
                    done += 1
                    yield prepared[number], outcome
            except TimeoutError:
                os.kill(child, signal.SIGKILL)
                _, status = os.waitpid(child, 0)
                yield todo[done][1], ended(f"it did not end within {limit:g} seconds", said)
                done += 1
            else:
                _, status = os.waitpid(child, 0)
                if done < len(todo) and (done == 0 or status != 0):  # a crash
                    yield todo[done][1], ended(how_it_ended(status), said)
                    done += 1
            finally:
                os.close(reader)
        todo = todo[done:]


def outcomes(reader: int, limit: float) -> Iterator[tuple[int, Outcome]]:
    def read(size: int) -> bytes:
        data = b""
        while len(data) < size:
            left = until - time.monotonic()
            if left <= 0 or not select.select([reader], [], [], left)[0]:
                raise TimeoutError
            chunk = os.read(reader, min(1 << 20, size - len(data)))
            if not chunk:
                return b""
            data += chunk
        return data

    while True:
        until = time.monotonic() + limit
        head = read(8)
        body = read(struct.unpack("<Q", head)[0]) if head else b""
        if not body:
            return
        found: Any = pickle.loads(body)
        yield found


def how_it_ended(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = signal.Signals(os.WTERMSIG(status))
        return f"the process crashed: {number.name} ({signal.strsignal(number)})"
    return f"the process ended with status {os.WEXITSTATUS(status)}"


def ended(how: str, said: IO[bytes]) -> Outcome:
    text = os.pread(said.fileno(), 1 << 24, 0).decode("utf-8", "replace")
    return Outcome(findings(text), failed=how, said=text)
