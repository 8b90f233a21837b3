"""Calls ops' functions for CUDA tensors under the stand-in for CUDA (standin.cpp), and prints as JSON what was recorded of each call.

python3 host_code.py standin.so library.so namespace.op…: each op is called with two tensors in host memory, three times: they have no elements,
5000 elements, and 5000 elements while every launch fails. An op with other parameters has a function in ARGUMENTS. 05-10 uses this file, too.
"""

import ctypes
import json
import sys

import torch

NAMES = ("launches", "grid", "block", "stream", "device", "device_afterwards", "pending_error")
CALLS = {"no elements": (0, 0), "5000 elements": (5000, 0), "a failed launch": (5000, 209)}  # 209: cudaErrorNoKernelImageForDevice
ARGUMENTS = {"box_nms.nms": lambda count: (torch.rand(count, 4), torch.rand(count), 0.5)}

standin, library, *ops = sys.argv[1:]
torch.ops.load_library(library)
stand_in = ctypes.CDLL(standin)


def recorded():
    values = (ctypes.c_int * len(NAMES))()
    stand_in.standin_recorded(values)
    return dict(zip(NAMES, values))


def call(name, count, error):
    namespace, _, op = name.partition(".")
    function = getattr(getattr(torch.ops, namespace), op).default
    arguments = ARGUMENTS.get(name, lambda count: torch.rand(2, count))(count)
    ctypes.c_int.in_dll(stand_in, "standin_error").value = error
    recorded()
    message = ""
    try:
        function.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), *arguments)
    except RuntimeError as raised:
        message = str(raised)
    return {**recorded(), "raised": message}


print(json.dumps({name: {what: call(name, *how) for what, how in CALLS.items()} for name in ops}))
