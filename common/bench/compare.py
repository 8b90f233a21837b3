"""Runs the simulator's benchmark and PoCL's in turn and prints how much processor time each takes, and the ratio.

Usage: compare.py DRIVER_PROGRAM OPENCL_PROGRAM KERNELS_CL [ROUNDS]
       compare.py DRIVER_PROGRAM
Both have compiled the kernels before, and find them in their caches. The two take turns with each kernel, so that a
machine whose speed drifts is fair to both. A ratio is of two runs that followed each other; the table has the median of
the rounds and their range. Both programs print a sum of each kernel's results, which must agree.

With one program only, the table shows what the check costs that CUDASIM_CHECK turns on: how many times as long a kernel
takes as without it, interpreted and compiled.
"""

import math
import os
import statistics
import subprocess
import sys


def measured(command: list[str], **settings: str) -> dict[str, tuple[float, float]]:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env={**settings, **os.environ})
    return {name: (float(time), float(result)) for name, time, result in (line.split() for line in done.stdout.splitlines())}


def checked(driver: str) -> None:
    check = os.environ.pop("CUDASIM_CHECK")
    print(f"{'kernel':<16}{'compiled, s':>13}{'interpreted':>13}{check:>10}{'÷ compiled':>13}{'÷ interpreted':>15}")
    for name in measured([driver], CUDASIM_COMPILE="now"):
        runs = ({"CUDASIM_COMPILE": "now"}, {"CUDASIM_COMPILE": "off"}, {"CUDASIM_CHECK": check})
        compiled, plain, slow = (measured([driver, name], **settings)[name][0] for settings in runs)
        print(f"{name:<16}{compiled:>13.4f}{plain:>13.4f}{slow:>10.4f}{slow / compiled:>13.1f}{slow / plain:>15.1f}", flush=True)


def main() -> None:
    if len(sys.argv) == 2:
        return checked(sys.argv[1])
    if not 4 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    driver, opencl, kernels = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    names = list(measured([driver], CUDASIM_COMPILE="now"))  # fills the caches of both
    measured([opencl, kernels])
    ours: dict[str, list[float]] = {name: [] for name in names}
    theirs: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            mine, other = measured([driver, name])[name], measured([opencl, kernels, name])[name]
            if not math.isclose(mine[1], other[1], rel_tol=1e-3, abs_tol=1e-3):
                sys.exit(f"{name}: the results differ: {mine[1]} and {other[1]}")
            ours[name].append(mine[0])
            theirs[name].append(other[0])
    ratios = {name: [a / b for a, b in zip(ours[name], theirs[name])] for name in names}
    names.sort(key=lambda name: -statistics.median(ratios[name]))
    print(f"{'kernel':<16}{'simulator, s':>14}{'PoCL, s':>10}{'ratio':>8}   range of {rounds} rounds")
    for name in names:
        all_of = ratios[name]
        print(
            f"{name:<16}{statistics.median(ours[name]):>14.4f}{statistics.median(theirs[name]):>10.4f}{statistics.median(all_of):>8.1f}"
            f"   {min(all_of):.1f} to {max(all_of):.1f}"
        )
    mean = statistics.geometric_mean(statistics.median(all_of) for all_of in ratios.values())
    print(f"{'geometric mean':<16}{mean:>32.2f}")


if __name__ == "__main__":
    main()
