"""The types of elements and scalars: those of NumPy, and bfloat16, which NumPy lacks and which is therefore kept as its 16 bits."""

from __future__ import annotations

import dataclasses

import numpy as np

NAMES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64".split()
# The allowed difference from the reference, relative and absolute, unless a kernel declares its own. They are PyTorch's (assert_close).
TOLERANCE = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
SMALLEST_NORMAL = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}


@dataclasses.dataclass(frozen=True)
class Type:
    name: str

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ValueError(f"there is no element type {self.name!r}: the types are {', '.join(NAMES)}")

    @property
    def stored(self) -> np.dtype:
        """What an element is in memory."""
        return np.dtype("uint16" if self.name == "bfloat16" else self.name)

    @property
    def is_float(self) -> bool:
        return "float" in self.name

    @property
    def size(self) -> int:
        return self.stored.itemsize

    def store(self, values: np.ndarray) -> np.ndarray:
        """Values, rounded to this type, as they are in memory."""
        with np.errstate(all="ignore"):
            if self.name != "bfloat16":
                return np.asarray(values).astype(self.stored)
            wide = np.asarray(values).astype(np.float32)
            bits = wide.view(np.uint32).astype(np.uint64)
            nearest = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
            return np.where(np.isnan(wide), np.uint16(0x7FC0), nearest).astype(np.uint16)

    def load(self, stored: np.ndarray) -> np.ndarray:
        """The values of elements in memory: floating-point numbers as float64, which holds each exactly, and integers as they are."""
        if self.name == "bfloat16":
            return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        return stored.astype(np.float64) if self.is_float else stored
