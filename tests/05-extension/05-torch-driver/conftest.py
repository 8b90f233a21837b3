# The lesson's modules can be imported; they are judged once, beside the solution, and not again for every answer.
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "05-extension" / "05-torch-driver"))
collect_ignore = [] if os.environ.get("ANSWER", "").endswith("solution.py") else ["test_launch.py"]
