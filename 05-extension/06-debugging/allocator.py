"""A small model of PyTorch's caching allocator, on the driver API.

PyTorch asks the driver for large blocks, cuts tensors out of them, and keeps what is freed for the next tensor of that size.
"""

from ctypes import byref, c_size_t, c_void_p

from common.driver import cu

BLOCK = 2 << 20  # what one call of cuMemAlloc returns
ROUNDED = 512  # each tensor begins at a multiple of this


class Allocator:
    """With caching=False, each tensor is an allocation of its own, as with PYTORCH_NO_CUDA_MEMORY_CACHING=1."""

    def __init__(self, caching: bool) -> None:
        self.caching, self.end, self.next = caching, 0, 0
        self.free_pieces: dict[int, list[int]] = {}

    def allocate(self, size: int) -> int:
        if not self.caching:
            return self.from_driver(size)
        size = -(-size // ROUNDED) * ROUNDED
        if self.free_pieces.get(size):
            return self.free_pieces[size].pop()
        if self.next + size > self.end:
            self.next = self.from_driver(BLOCK)
            self.end = self.next + BLOCK
        address, self.next = self.next, self.next + size
        return address

    def free(self, address: int, size: int) -> None:
        """The memory may be handed out again at once, whatever the GPU is still doing with it."""
        if not self.caching:
            cu.cuMemFree_v2(c_void_p(address))
        else:
            self.free_pieces.setdefault(-(-size // ROUNDED) * ROUNDED, []).append(address)

    def from_driver(self, size: int) -> int:
        address = c_void_p()
        cu.cuMemAlloc_v2(byref(address), c_size_t(size))
        return address.value or 0
