# Which of these wheels does pip take?
import re


def rank(wheel: str, python: tuple[int, int], platforms: list[str]) -> tuple[int, ...] | None:
    """How good a wheel is, more is better, number by number; None if it does not fit."""
    _, _, interpreter, abi, platform = wheel.removesuffix(".whl").rsplit("-", 4)
    if platform not in [*platforms, "any"]:
        return None
    place = -[*platforms, "any"].index(platform)
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
    """The name of the wheel that pip would install, or None if none fits.

    wheels: names as "square_plus-1.0-cp39-abi3-linux_x86_64.whl": package, version, and three tags.
    python: (3, 11); its own tags are cp311-cp311.
    platforms: what this machine runs, the best first: ["manylinux_2_28_x86_64", "linux_x86_64"]. "any" runs everywhere, and comes last.

    A wheel fits if its platform does and its Python does: cp311-cp311 is for that Python only, cp39-abi3 for that one and all later ones of
    CPython 3, py3-none for every Python 3. Of those that fit, one for exactly this Python is better than an abi3, an abi3 of a later Python better than one of an
    earlier, and py3-none is the last choice; among equals the better platform wins.
    """
    ranked = [(rank(wheel, python, platforms), wheel) for wheel in wheels]
    fitting = [(how_good, wheel) for how_good, wheel in ranked if how_good is not None]
    return max(fitting, default=(None, None))[1]
