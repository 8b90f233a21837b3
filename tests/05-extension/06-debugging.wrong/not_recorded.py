# Rejected with: "a recorded stream delays the reuse until its work is done"
# It forgets which other streams use a piece.
# When may an allocator hand out freed memory again? Write a caching allocator that knows about streams, like PyTorch's.
from collections.abc import Callable
from typing import Protocol


class Event(Protocol):
    def done(self) -> bool:
        """Whether all work that was in the stream when the event was recorded has finished. Does not wait."""


class Cache:
    """A caching allocator. Work in one stream runs in order; work in different streams does not.

    new_block(size) asks the driver for memory and returns its address. record(stream) records an event in a stream.

    Sizes are rounded up to a multiple of 512. A freed piece is reused for the next tensor of its rounded size on the stream for which it was
    allocated. Streams are numbers. The functions never wait: if no freed piece may be used yet, they ask for a new block.
    """

    def __init__(self, new_block: Callable[[int], int], record: Callable[[int], Event]) -> None:
        self.new_block, self.record = new_block, record
        self.used: dict[int, tuple[int, int, set[int]]] = {}  # address: size, stream, the other streams that use it
        self.freed: list[tuple[int, int, int, list[Event]]] = []  # address, size, stream, events

    def allocate(self, size: int, stream: int) -> int:
        """The address of a piece of memory for a tensor on this stream."""
        size = -(-size // 512) * 512
        for piece in self.freed:
            address, its_size, its_stream, events = piece
            if (its_size, its_stream) == (size, stream) and all(event.done() for event in events):
                self.freed.remove(piece)
                break
        else:
            address = self.new_block(size)
        self.used[address] = size, stream, set()
        return address

    def record_stream(self, address: int, stream: int) -> None:
        """Work on another stream uses this piece, too. It is launched before the piece is freed, and may run later."""

    def free(self, address: int) -> None:
        """The program no longer uses the piece, but the GPU may still be using it."""
        size, stream, others = self.used.pop(address)
        self.freed.append((address, size, stream, [self.record(other) for other in sorted(others - {stream})]))
