# Rejected with: "any is the last of the platforms"
# "any" is looked for where the others are, is not there, and its -1 makes it the best.
"""Which of these wheels does pip take?"""

import re


def rank(wheel: str, python: tuple[int, int], platforms: list[str]) -> tuple[int, ...] | None:
    """How good a wheel is, more is better, number by number; None if it does not fit."""
    _, _, interpreter, abi, platform = wheel.removesuffix(".whl").rsplit("-", 4)
    if platform not in [*platforms, "any"]:
        return None
    place = -(platforms.index(platform) if platform in platforms else -1)
    if interpreter == "py3" and abi == "none":
        return (0, 0, place)
    numbers = re.fullmatch(r"cp3(\d+)", interpreter)
    if not numbers:
        return None
    minor = int(numbers.group(1))
    if abi == "abi3" and minor <= python[1]:
        return (1, minor, place)
    if abi == interpreter and minor == python[1]:
        return (2, minor, place)
    return None


def best(wheels: list[str], python: tuple[int, int], platforms: list[str]) -> str | None:
    ranked = [(rank(wheel, python, platforms), wheel) for wheel in wheels]
    fitting = [(how_good, wheel) for how_good, wheel in ranked if how_good is not None]
    return max(fitting, default=(None, None))[1]
