"""Runs the simulator's benchmark and PoCL's in turn and prints the table: seconds, and how many times PoCL's time we take.

Usage: compare.py DRIVER_PROGRAM OPENCL_PROGRAM KERNELS_CL [ROUNDS]
The two take turns, so that a machine whose speed drifts is fair to both; the median of the rounds counts.
"""

import statistics
import subprocess
import sys


def seconds(command: list[str]) -> dict[str, float]:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {name: float(time) for name, time in (line.split() for line in done.stdout.splitlines())}


def main() -> None:
    if not 4 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    driver, opencl, kernels = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    ours: dict[str, list[float]] = {}
    theirs: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, time in seconds([driver]).items():
            ours.setdefault(name, []).append(time)
        for name, time in seconds([opencl, kernels]).items():
            theirs.setdefault(name, []).append(time)
    print(f"{'kernel':<14}{'simulator, s':>14}{'PoCL, s':>10}{'times PoCL':>12}")
    for name in ours:
        mine, other = statistics.median(ours[name]), statistics.median(theirs[name])
        print(f"{name:<14}{mine:>14.4f}{other:>10.4f}{mine / other:>12.1f}")


if __name__ == "__main__":
    main()
