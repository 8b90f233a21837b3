"""The commands behind make. Each is a module with a main(); __main__.py dispatches to them, and typed.py reads what was typed.

make knows how a file is built. What a person means, what is possible on this machine, and every sentence that is said are decided here.
"""

import os
import pathlib
import sys

# Symbolic links are not followed: build/sanitize-… is a repository of links with a build folder of its own.
ROOT = pathlib.Path(os.path.abspath(__file__)).parents[2]
# The package for other people's programs, whose parts the commands use, too. An installed one must not take its place.
sys.path.insert(0, str(ROOT / "common/package/src"))
