# Draws the speed of every rung, and the rungs below the roofline of shared memory.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import passes  # noqa: E402
from passes import plots  # noqa: E402

# For a product of 256 x 256 floats, as ncu counts them on an H200: l1tex__data_pipe_lsu_wavefronts.sum, with --profile.
PASSES = {
    "naive": 17370640,
    "coalesced": 1052672,
    "tiled": 858176,
    "register_2d": 203453,
}

plots.main(
    lambda figure, record: passes.draw(figure, record, PASSES, left=1),
    "Speed of four product kernels, and the kernels on the roofline of shared memory",
    size=(7.4, 6.6),
)
