import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "common")]

from bare import a_house  # noqa: F401 - a fixture
