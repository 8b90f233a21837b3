"""Calls an op's function for CUDA tensors under the stand-in for CUDA (standin.cpp), and prints what was recorded as JSON.

python3 host_code.py standin.so library.so namespace.op count: two contiguous tensors of so many floats, in host memory
"""

import ctypes
import json
import sys

import torch

standin, library, name, count = sys.argv[1:]
torch.ops.load_library(library)
namespace, _, op = name.partition(".")
function = getattr(getattr(torch.ops, namespace), op).default
tensors = torch.rand(2, int(count))
recorded, values = ctypes.CDLL(standin).standin_recorded, (ctypes.c_int * 7)()
recorded(values)
error = ""
try:
    function.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), *tensors)
except RuntimeError as raised:
    error = str(raised)
recorded(values)
names = ("launches", "grid", "block", "stream", "device", "device_afterwards", "pending_error")
print(json.dumps({**dict(zip(names, values)), "raised": error}))
