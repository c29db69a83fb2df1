# SPDX-License-Identifier: MIT
"""Where arrays live: memory of NumPy, or of PyTorch on the CPU or a GPU, under one set of names.

`xp` is the library's own module. Problems and references are written with the functions that numpy and torch have in
common, so that one text of a definition serves both.
"""

import contextlib
import math

TYPES = ("fp32", "fp16", "bf16")
PRECISION = {"fp32": 24, "fp16": 11, "bf16": 8}  # significant bits, the hidden one included
SMALLEST = {"fp32": 2.0**-149, "fp16": 2.0**-24, "bf16": 2.0**-133}  # distance of subnormal numbers
SIZE = {"fp32": 4, "fp16": 2, "bf16": 2}


class Missing(Exception):
    """Something that this machine or this library does not have."""


class NumpySpace:
    name = "numpy"
    on_gpu = False

    def __init__(self):
        import numpy

        self.xp = numpy
        self.types = {"fp32": numpy.float32, "fp16": numpy.float16}

    def dtype(self, name):
        if name not in self.types:
            raise Missing(f"NumPy has no type {name}: PyTorch has")
        return self.types[name]

    def empty(self, shape, dtype):
        return self.xp.empty(shape, self.dtype(dtype))

    def strided(self, shape, strides, dtype):
        """An array with these strides, in elements, over memory of its own."""
        count = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        base = self.empty((count,), dtype)
        steps = [stride * base.itemsize for stride in strides]
        return self.xp.lib.stride_tricks.as_strided(base, shape, steps)

    def aligned(self, count, alignment):
        """FP32 elements at a multiple of so many bytes, which NumPy's own memory need not be."""
        room = self.empty((count + alignment // 4,), "fp32")
        skipped = -room.ctypes.data % alignment // 4
        return room[skipped : skipped + count]

    def numbers(self, seed):
        """Where a seed's numbers come from: normal(shape) and integers(low, high, shape), both FP32."""
        return _NumpyNumbers(self.xp, seed)

    def double(self, array):
        return array.astype(self.xp.float64)

    def round(self, values, dtype):
        """FP64 values as the type has them, in FP64 again."""
        return values.astype(self.dtype(dtype)).astype(self.xp.float64)

    def indices(self, values):
        return self.xp.asarray(values, dtype=self.xp.int64)

    def fill(self, array, values):
        array[...] = values

    def wait(self):
        pass

    def count(self, array):
        return array.size

    def adopt(self, array):
        """An array of whatever library, as one of this."""
        return array

    def numpy_view(self, array):
        return array

    def quiet(self):
        return self.xp.errstate(all="ignore")


class _NumpyNumbers:
    def __init__(self, numpy, seed):
        self.numpy, self.generator = numpy, numpy.random.default_rng(seed)

    def normal(self, shape):
        return self.generator.standard_normal(shape, dtype=self.numpy.float32)

    def integers(self, low, high, shape):
        return self.generator.integers(low, high, shape).astype(self.numpy.float32)


class TorchSpace:
    name = "torch"

    def __init__(self, device):
        import torch

        self.xp, self.device = torch, torch.device(device)
        self.on_gpu = self.device.type == "cuda"
        self.types = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
        # A sum of FP16 products that is kept in FP16 is another contract.
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False

    def dtype(self, name):
        return self.types[name]

    def empty(self, shape, dtype):
        return self.xp.empty(shape, dtype=self.dtype(dtype), device=self.device)

    def strided(self, shape, strides, dtype):
        count = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        return self.empty((count,), dtype).as_strided(shape, strides)

    def aligned(self, count, alignment):
        room = self.empty((count + alignment // 4,), "fp32")
        skipped = -room.data_ptr() % alignment // 4
        return room[skipped : skipped + count]

    def numbers(self, seed):
        return _TorchNumbers(self.xp, self.device, seed)

    def double(self, array):
        return array.double()

    def round(self, values, dtype):
        return values.to(self.dtype(dtype)).double()

    def indices(self, values):
        return self.xp.as_tensor(values, dtype=self.xp.int64, device=self.device)

    def fill(self, array, values):
        if isinstance(values, float):
            array.fill_(values)
        else:
            array.copy_(values)

    def wait(self):
        if self.on_gpu:
            self.xp.cuda.synchronize()

    def count(self, array):
        return array.numel()

    def adopt(self, array):
        return array if isinstance(array, self.xp.Tensor) else self.xp.from_numpy(array)

    def numpy_view(self, array):
        """The same memory as an array of NumPy; Missing where NumPy has no such type, or cannot reach it."""
        if self.on_gpu or array.dtype == self.xp.bfloat16:
            raise Missing("NumPy has neither bf16 nor memory of a GPU")
        return array.numpy()

    def quiet(self):
        return contextlib.nullcontext()


class _TorchNumbers:
    def __init__(self, torch, device, seed):
        self.torch, self.device = torch, device
        self.generator = torch.Generator(device=device).manual_seed(seed)

    def normal(self, shape):
        return self.torch.randn(shape, generator=self.generator, device=self.device)

    def integers(self, low, high, shape):
        return self.torch.randint(low, high, shape, generator=self.generator, device=self.device).float()


def rounding_error(xp, values, dtype):
    """At most half a unit in the last place of these FP64 values; half a subnormal step near 0."""
    return xp.clip(abs(values) * 2.0 ** -PRECISION[dtype], SMALLEST[dtype] / 2, None)


def unit_in_last_place(xp, values, dtype):
    exponent = xp.frexp(values)[1] - PRECISION[dtype]
    lowest = int(math.log2(SMALLEST[dtype]))
    return xp.exp2(xp.clip(exponent, lowest, None) * 1.0)
