"""Makes the lesson's modules importable. The server's tests do not depend on the exercise, so they run once."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "05-extension" / "15-without-python"))
collect_ignore = [] if pathlib.Path(os.environ.get("ANSWER", "")).parent.name == "solution" else ["test_server.py"]
