"""Uses the installed package the way that programs do: in a forked and in a spawned process, in another thread, and in the main one.

python3 use.py cpu|cuda [import] [fork] [spawn] [thread] [main] prints a result for each of these words, in their order. After
thread or main, which use CUDA in this process, import says yes, and fork fails with a GPU.
"""

import ctypes
import multiprocessing
import sys
import threading

import torch

import square_plus

NOT_INITIALIZED = 3  # CUDA_ERROR_NOT_INITIALIZED: no thread of this process has called cuInit


def started_by_import() -> str:
    """Whether the import has started the CUDA driver in this process. A process that has can no longer fork children that use CUDA."""
    try:
        result = ctypes.CDLL("libcuda.so.1").cuCtxGetCurrent(ctypes.byref(ctypes.c_void_p()))
    except OSError:
        return "no: there is no driver"
    return "no" if result == NOT_INITIALIZED else "yes"


def values(device: str) -> str:
    """x² + 1 for 0, 1, 2, 3, and its gradient."""
    x = torch.arange(4.0, device=device, requires_grad=True)
    y = square_plus.square_plus(x, torch.ones(1, device=device))
    y.sum().backward()
    return " ".join(f"{number:g}" for number in [*y.tolist(), *x.grad.tolist()])


def report(device: str, queue: object) -> None:
    queue.put(values(device))


def in_thread(device: str) -> str:
    results = []
    thread = threading.Thread(target=lambda: results.append(values(device)))
    thread.start()
    thread.join()
    return results[0] if results else "the thread failed"


def in_process(device: str, how: str) -> str:
    context = multiprocessing.get_context(how)
    queue = context.SimpleQueue()
    process = context.Process(target=report, args=(device, queue))
    process.start()
    process.join()
    return queue.get() if process.exitcode == 0 else "the process failed"


RESULTS = {
    "import": lambda device: started_by_import(),
    "fork": lambda device: in_process(device, "fork"),
    "spawn": lambda device: in_process(device, "spawn"),
    "thread": in_thread,
    "main": values,
}

if __name__ == "__main__":
    device, *words = sys.argv[1:]
    for word in words:
        print(RESULTS[word](device), flush=True)
