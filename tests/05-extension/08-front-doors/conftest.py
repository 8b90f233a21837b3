"""Makes the lesson's modules importable, and provides a producer. What does not depend on the exercise is tested once, with the solution."""

import ctypes
import os
import pathlib
import sys
import threading
from ctypes import byref, c_size_t, c_void_p

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "05-extension" / "08-front-doors"))
collect_ignore = [] if os.environ.get("ANSWER", "").endswith("solution.py") else ["test_capsules.py"]

from common.driver import cu, current, primary

COUNT = 6
NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
Callback = ctypes.CFUNCTYPE(None, c_void_p)


class Producer:
    """Memory, a stream that does not go on before open(), and then writes sevens into the memory; and how often the memory was freed."""

    def __init__(self):
        self.gate, self.freed, self.streams = threading.Event(), 0, []
        self.stream, self.consumers = self.new_stream(), self.new_stream()
        self.address = c_void_p()
        cu.cuMemAlloc_v2(byref(self.address), c_size_t(4 * COUNT))
        cu.cuMemsetD32_v2(self.address, 0, c_size_t(COUNT))
        self.wait = Callback(lambda _: self.gate.wait(20) and None)

    def new_stream(self):
        stream = c_void_p()
        cu.cuStreamCreate(byref(stream), NON_BLOCKING)
        self.streams.append(stream)
        return stream

    def write_sevens(self):
        """Puts the work into the stream. It begins when the gate opens."""
        cu.cuLaunchHostFunc(self.stream, self.wait, None)
        cu.cuMemsetD32Async(self.address, 7, c_size_t(COUNT), self.stream)

    def free(self):
        self.freed += 1


@pytest.fixture
def producer():
    with current(primary(0)):
        made = Producer()
        yield made
        made.gate.set()
        cu.cuCtxSynchronize()
        for stream in made.streams:
            cu.cuStreamDestroy_v2(stream)
        cu.cuMemFree_v2(made.address)


@pytest.fixture
def shared(answer, producer):
    return answer.Shared(producer.address.value, (2, 3), producer.stream, producer.free)
