"""make cuobjdump: fetches the toolkit's tool that unpacks compressed PTX, for the simulated GPU."""

import os
import shutil
import sys
from collections.abc import Sequence

from course import ROOT, fetch

PACKAGE = "nvidia-cuda-cuobjdump==13.2.*"  # it reads the images of older toolkits, too


def main(words: Sequence[str] = ()) -> int:
    """Links the tool beside the simulator, which looks for it there."""
    link = ROOT / "build" / "simulator" / "cuobjdump"
    link.parent.mkdir(parents=True, exist_ok=True)
    installed = shutil.which("cuobjdump") or shutil.which("cuobjdump", path=str(ROOT / "build" / "toolkit" / "bin"))
    try:
        if not installed:
            what = "cuobjdump"
            folder = fetch.fetch("cuobjdump-13.2", 10, what, "Fetching cuobjdump from NVIDIA's Python wheels (1 MB).", fill)
            installed = str(folder / "nvidia" / "cu13" / "bin" / "cuobjdump")
            os.chmod(installed, 0o755)
    except fetch.Missing as why:
        print(f"cuobjdump could not be fetched: {why}. Compile with nvcc --no-compress instead.", file=sys.stderr)
        return 1
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.abspath(installed))
    print(f"The simulated GPU now unpacks compressed PTX with {installed}.")
    return 0


def fill(part: fetch.Part) -> None:
    fetch.pip(part, "--no-deps", PACKAGE)
