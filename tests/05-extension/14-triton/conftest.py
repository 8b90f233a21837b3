"""Makes the lesson's modules importable. The op's tests do not depend on the exercise, so they run once, with the solution."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "05-extension" / "14-triton"))
collect_ignore = [] if os.environ.get("ANSWER", "").endswith("solution.py") else ["test_op.py"]
