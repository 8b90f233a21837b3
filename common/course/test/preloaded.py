"""Runs programs in Python that use PyTorch, without importing it anew for each: a server has imported it, and forks a process for each program.

An import takes one to three seconds of processor time, more than most programs take otherwise, and `make test` runs a hundred of them. The server
must not have used CUDA, because its children could not use it then. On a GPU, programs are started as usual.
"""

import contextlib
import ctypes
import gc
import json
import os
import pathlib
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import time

from course.interpreter import for_python, python
from course.process import run_limited

# PyTorch, and what it imports when torch.compile and opcheck are first used.
MODULES = ["torch", "torch._dynamo", "torch._inductor.compile_fx", "torch.testing._internal.optests", "pytest"]
NOT_INITIALIZED = 3  # CUDA_ERROR_NOT_INITIALIZED


class Server:
    """The process that forks, and the socket that tells it what to run."""

    def __init__(self, environment, modules=MODULES):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            with_torch = for_python()
            places = os.pathsep.join([str(pathlib.Path(__file__).parents[2]), with_torch["PYTHONPATH"]])
            environment = {**environment, **with_torch, "PYTHONPATH": places}
            command = [python(), "-m", "course.test.preloaded", str(theirs.fileno()), *modules]
            quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            self.process = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], **quiet)

    def run(self, command, limit, stdout, stderr, **how):
        """As run_limited, for [python(), "-m", module, …] and [python(), file, …] whose output is wanted."""
        separate = stderr != subprocess.STDOUT
        output, errors, status = os.pipe(), os.pipe(), os.pipe()
        theirs = [output[1], errors[1] if separate else output[1], status[1]]
        try:
            socket.send_fds(self.socket, [json.dumps({"words": command[1:], **how}, default=str).encode()], theirs)
        except OSError:  # the server has ended
            return run_limited(command, limit, stdout=stdout, stderr=stderr, **how)
        finally:
            for pipe in (output, errors, status):
                os.close(pipe[1])
        read, ended = read_to_the_end([pipe[0] for pipe in (output, errors, status)], limit)
        said, complained, told = [text.decode(errors="replace") for text in read]
        with contextlib.suppress(ProcessLookupError, ValueError):
            os.killpg(int(told.split()[0]), signal.SIGKILL)  # with every process that it started
        if not ended:
            raise subprocess.TimeoutExpired(command, limit, read[0])
        return subprocess.CompletedProcess(command, int(told.split()[1]), said, complained if separate else None)

    def __enter__(self):
        return self

    def __exit__(self, *failed):
        self.socket.close()  # the server's loop ends
        self.process.wait()


def read_to_the_end(pipes, limit):
    """What came through each pipe, and whether all were at their end within `limit` seconds; closes them."""
    read, end = dict.fromkeys(pipes, b""), time.monotonic() + limit
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map() and time.monotonic() < end:
            for key, _ in selector.select(end - time.monotonic()):
                if some := os.read(key.fd, 65536):
                    read[key.fd] += some
                else:
                    selector.unregister(key.fd)
        ended = not selector.get_map()
    for pipe in pipes:
        os.close(pipe)
    return list(read.values()), ended


# ---- in the server -------------------------------------------------------------------------------------------------------


def serve(control):
    """Returns in the process of a program: what it runs."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # watchers are never waited for
    while True:
        message, pipes, *_ = socket.recv_fds(control, 1 << 20, 3)
        if not message:
            sys.exit()
        if os.fork() == 0:
            control.close()
            return watched(json.loads(message), *pipes)
        for pipe in pipes:
            os.close(pipe)


def watched(job, output, errors, status):
    """Forks the program's process, returns in it, and ends in this one, which reports the process's number and its status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if process := os.fork():
        os.write(status, f"{process}\n".encode())
        os.write(status, f"{os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])}\n".encode())
        os._exit(0)
    os.setsid()
    os.close(status)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.close(output)
    os.close(errors)
    os.chdir(job.get("cwd") or os.getcwd())
    os.environ.clear()
    os.environ.update(job["env"])
    return job["words"]


def cuda_is_started():
    """Has this process initialized the driver? Then its children could not use CUDA."""
    try:
        return ctypes.CDLL("libcuda.so.1").cuCtxGetCurrent(ctypes.byref(ctypes.c_void_p())) != NOT_INITIALIZED
    except OSError:
        return False


def main():
    control, *modules = sys.argv[1:]
    for module in modules:
        __import__(module)
        if cuda_is_started():  # torch._inductor.compile_fx of PyTorch 2.11 starts it: start this server again, without the module
            modules.remove(module)
            os.execv(sys.executable, [sys.executable, "-m", "course.test.preloaded", control, *modules])
    gc.freeze()  # the children share these objects, and need not look through them when they end
    own = os.environ["PYTHONPATH"].split(os.pathsep)
    after = [place for place in sys.path[1:] if place not in own]
    words = serve(socket.socket(fileno=int(control)))
    as_module = words[0] == "-m"
    sys.argv = words[1:] if as_module else words
    first = os.getcwd() if as_module else os.path.dirname(words[0])
    sys.path[:] = [first, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *after]
    if as_module:
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
