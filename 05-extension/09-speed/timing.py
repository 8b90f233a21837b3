# How a time is measured: warm up, repeat the work until the clock can resolve it, take several samples, keep the spread.
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

SAMPLES = 11
LEAST = 0.02  # seconds for a sample, at least


@dataclass(frozen=True)
class Timing:
    """Seconds for one run: the median and both quartiles."""

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        return f"{self.median * 1e6:7.1f} ± {(self.high - self.low) / 2 * 1e6:<5.1f}"


def measure(work: Callable[[], object], wait: Callable[[], None], parts: int = 1) -> Timing:
    """Times one of the `parts` that work() consists of. wait() returns when all work has finished."""

    def seconds(times: int) -> float:
        wait()
        start = time.perf_counter()
        for _ in range(times):
            work()
        wait()
        return time.perf_counter() - start

    seconds(3)  # the first runs compile, load and allocate
    times = 1
    while seconds(times) < LEAST:
        times *= 2
    low, median, high = statistics.quantiles((seconds(times) / times / parts for _ in range(SAMPLES)), n=4)
    return Timing(low, median, high)
