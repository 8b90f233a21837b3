"""Calls an op's function for CUDA tensors under the stand-in for CUDA (standin.cpp), and prints what was recorded as JSON.

python3 host_code.py standin.so library.so namespace.op count error: two contiguous tensors of so many floats, in host memory.
If error is not 0, every launch fails with it.
"""

import ctypes
import json
import sys

import torch

standin, library, name, count, error = sys.argv[1:]
torch.ops.load_library(library)
namespace, _, op = name.partition(".")
function = getattr(getattr(torch.ops, namespace), op).default
tensors = torch.rand(2, int(count))
stand_in = ctypes.CDLL(standin)
ctypes.c_int.in_dll(stand_in, "standin_error").value = int(error)
recorded, values = stand_in.standin_recorded, (ctypes.c_int * 7)()
recorded(values)
message = ""
try:
    function.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), *tensors)
except RuntimeError as raised:
    message = str(raised)
recorded(values)
names = ("launches", "grid", "block", "stream", "device", "device_afterwards", "pending_error")
print(json.dumps({**dict(zip(names, values)), "raised": message}))
