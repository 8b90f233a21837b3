# Draws the speed of every rung, and the rungs below the roofline of shared memory.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import passes  # noqa: E402
from passes import plots  # noqa: E402

# For a product of 256 x 256 floats, as ncu counts them on an H200: l1tex__data_pipe_lsu_wavefronts.sum, with --profile.
PASSES = {
    "register_2d": 203417,
    "vectorized": 185313,  # of 4096 x 4096, divided by 4096
    "transposed": 188965,
    "warp_tiled": 123365,
    "double_buffered": 120833,
    "larger": 93552,
    "prefetched": 93629,
}

plots.main(
    lambda figure, record: passes.draw(figure, record, PASSES, left=50),
    "Speed of seven product kernels, and the kernels on the roofline of shared memory",
    size=(7.4, 7.4),
)
