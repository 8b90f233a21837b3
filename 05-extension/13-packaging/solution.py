# Which of these wheels does pip install?
import re


def rank(wheel: str, python: tuple[int, int], platforms: list[str], free_threaded: bool) -> tuple[int, ...] | None:
    """How specific a wheel is, compared number by number: larger is better. None if it does not fit."""
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
    if abi == "abi3" and minor <= python[1] and not free_threaded:
        return (1, minor, place)
    if abi == interpreter + ("t" if free_threaded else "") and minor == python[1]:
        return (2, minor, place)
    return None


def best(wheels: list[str], python: tuple[int, int], platforms: list[str], free_threaded: bool = False) -> str | None:
    """The name of the wheel that pip installs, or None if none fits.

    wheels: names such as "square_plus-1.0-cp310-abi3-linux_x86_64.whl": package, version, and three tags.
    python: (3, 13) has the tags cp313-cp313. The free-threaded build of Python 3.13 has the tags cp313-cp313t.
    platforms: what this machine can run, the best first: ["manylinux_2_28_x86_64", "linux_x86_64"]. "any" runs everywhere and comes last.

    A wheel fits if its platform and its Python fit. cp311-cp311 is for that Python only. cp310-abi3 is for that Python and all later ones,
    except free-threaded ones. py3-none is for every Python 3. Of the wheels that fit, one for exactly this Python
    is better than abi3. An abi3 wheel for a later Python is better than one for an earlier Python, and py3-none is the last choice. If
    two wheels are otherwise equal, the one for the better platform wins.
    """
    ranked = [(rank(wheel, python, platforms, free_threaded), wheel) for wheel in wheels]
    fitting = [(how_specific, wheel) for how_specific, wheel in ranked if how_specific is not None]
    return max(fitting, default=(None, None))[1]
