# How a figure is made: warm up, do enough of it for the clock, do that several times, and keep the spread.
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Seconds for one run: the median, and the quartiles on either side of it."""

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        return f"{self.median * 1e6:7.1f} ± {(self.high - self.low) / 2 * 1e6:<6.1f}"


def measure(work: Callable[[], object], wait: Callable[[], None], samples: int = 11, least: float = 2e-3, parts: int = 1) -> Timing:
    """Times one of the `parts` that `work` does. `wait` returns when all that was begun has ended; a sample takes `least` seconds or more."""

    def seconds(times: int) -> float:
        wait()
        start = time.perf_counter()
        for _ in range(times):
            work()
        wait()
        return time.perf_counter() - start

    seconds(3)  # the first run compiles, allocates, loads: not counted
    times = 1
    while seconds(times) < least:
        times *= 2
    low, median, high = statistics.quantiles((seconds(times) / times / parts for _ in range(samples)), n=4)
    return Timing(low, median, high)
