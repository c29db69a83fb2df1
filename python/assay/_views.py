# SPDX-License-Identifier: MIT
"""What the library needs to know of an array, whoever made it: pointer, type, device, shape, strides, stream.

A view is (the bytes of an assay_tensor, device, shape, strides), strides in elements. Nothing is copied and nothing
waits: a CUDA array is used on the stream that its own library calls current.

An array is described by a *kind*, found by the array's type once and then looked up. NumPy and PyTorch have kinds
of their own; everything else speaks DLPack.
"""

import ctypes
import functools
import struct
import sys
import threading

from . import _library

FP32, FP16, BF16, FP64 = range(4)
DEVICE_CPU = -1
STREAM_LEGACY = 1  # the driver's name for the default stream, which frameworks call 0

MAX_RANK = 4


def _tensor_format(rank):
    """The fields of an assay_tensor of this rank, with the unused entries of shape and strides left 0."""
    unused = 8 * (MAX_RANK - rank)
    return f"Qiii4x{rank}q{unused}x{rank}q{unused}x" if rank else "Qiii4x64x"


_packers = tuple(struct.Struct("=" + _tensor_format(rank)).pack for rank in range(MAX_RANK + 1))


def pack(data, dtype, device, shape, strides):
    """The bytes of an assay_tensor."""
    rank = len(shape)
    if rank > MAX_RANK:
        raise _library.BadShape(f"an array has rank {rank}; it must be at most {MAX_RANK}")
    return _packers[rank](data, dtype, device, rank, *shape, *strides)


def contiguous_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size if size > 0 else 1
    return tuple(reversed(strides))


# ---- queues ----------------------------------------------------------------------------------------------------


class _Queues(threading.local):
    """Queues of this thread, by device and by number of threads or stream. A queue serves one thread at a time."""

    def __init__(self):
        self.open = {}
        self.close = _library.queue_close  # still there when the interpreter takes the modules down

    def __del__(self):
        for queue in self.open.values():
            self.close(queue)


_queues = _Queues()


def queue_of(device, which):
    """A queue of this thread: on the CPU with `which` threads (0: the default), on CUDA on the stream `which`."""
    key = (device, which)
    queue = _queues.open.get(key)
    if queue is None:
        opened = ctypes.c_void_p()
        if device == DEVICE_CPU:
            status = _library.queue_open_cpu(which, ctypes.byref(opened))
        else:
            status = _library.queue_open_cuda(device, which or STREAM_LEGACY, ctypes.byref(opened))
        _library.check(status)
        queue = _queues.open[key] = opened
    return queue


# ---- NumPy -----------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def _in_elements(strides, size):
    """Strides of bytes in elements; None where that is no whole number. Programs use few strides, again and again."""
    if any(stride % size for stride in strides):
        return None
    return tuple(stride // size for stride in strides)


class NumpyKind:
    """Arrays of NumPy. BF16 is what ml_dtypes calls bfloat16."""

    def __init__(self):
        import numpy

        self.numpy = numpy
        self.dtypes = {
            numpy.dtype(numpy.float32): FP32,
            numpy.dtype(numpy.float16): FP16,
            numpy.dtype(numpy.float64): FP64,
        }

    def view(self, array, name, written=False):
        dtype = self.dtypes.get(array.dtype)
        if dtype is None:
            dtype = self._other_dtype(array.dtype, name)
        data, read_only = array.__array_interface__["data"]
        if written and read_only:
            raise _library.BadPointer(f"{name} is read-only; it must be writable")
        shape = array.shape
        strides = _in_elements(array.strides, array.itemsize)
        if strides is None:
            raise _library.BadStride(
                f"{name} has strides of {array.strides} bytes; they must be multiples of the element's {array.itemsize}"
            )
        return pack(data, dtype, DEVICE_CPU, shape, strides), DEVICE_CPU, shape, strides

    def _other_dtype(self, dtype, name):
        if dtype.name == "bfloat16" and dtype.itemsize == 2 and dtype.isnative:
            self.dtypes[dtype] = BF16
            return BF16
        raise _library.BadDtype(
            f"{name} is {dtype.name if dtype.isnative else dtype.str}; it must be float32, float16 or bfloat16"
        )

    def empty(self, like, shape):
        return self.numpy.empty(shape, like.dtype)

    def stream(self, array, device, threads):
        return threads


# ---- PyTorch ---------------------------------------------------------------------------------------------------


class TorchKind:
    """Tensors of PyTorch on the CPU and on CUDA devices."""

    def __init__(self):
        import torch

        self.torch = torch
        self.dtypes = {torch.float32: FP32, torch.float16: FP16, torch.bfloat16: BF16, torch.float64: FP64}
        self.grad_enabled = torch.is_grad_enabled
        # The handle of the current stream as a plain number, without making an object for it.
        self.current_stream = getattr(torch._C, "_cuda_getCurrentRawStream", self._current_stream)

    def _current_stream(self, device):
        return self.torch.cuda.current_stream(device).cuda_stream

    def view(self, array, name, written=False):
        dtype = self.dtypes.get(array.dtype)
        if dtype is None:
            raise _library.BadDtype(f"{name} is {array.dtype}; it must be float32, float16 or bfloat16")
        if array.requires_grad and self.grad_enabled():
            raise _library.RequiresGrad(
                f"{name} requires grad and this function does not record: use assay.torch, torch.no_grad() or detach()"
            )
        device = array.get_device()
        if not array.is_cuda:
            if not array.is_cpu:
                raise _library.BadDevice(f"{name} is on {array.device}; it must be on the CPU or a CUDA device")
            device = DEVICE_CPU
        shape, strides = array.shape, array.stride()
        return pack(array.data_ptr(), dtype, device, shape, strides), device, shape, strides

    def empty(self, like, shape):
        return like.new_empty(shape)

    def stream(self, array, device, threads):
        return self.current_stream(device) if device >= 0 else threads


# ---- everybody else --------------------------------------------------------------------------------------------


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)

_DL_CPU, _DL_CUDA, _DL_CUDA_HOST = 1, 2, 3
_DL_TYPES = {(2, 32): FP32, (2, 16): FP16, (4, 16): BF16, (2, 64): FP64}


class DLPackKind:
    """Arrays that only say what they are through DLPack. The capsule is read, never consumed: the array keeps what it
    owns, and must live as long as the call, which its caller sees to."""

    def view(self, array, name, written=False):
        device_type, device = array.__dlpack_device__()
        if device_type in (_DL_CPU, _DL_CUDA_HOST):
            device = DEVICE_CPU
            capsule = array.__dlpack__()
        elif device_type == _DL_CUDA:
            # -1: the exporter need not wait for anything; the call below goes to the stream that stream() names. JAX
            # takes no such word, and makes the default stream, where the call goes, wait for its own.
            own_stream = type(array).__module__.startswith("jax")
            capsule = array.__dlpack__() if own_stream else array.__dlpack__(stream=-1)
        else:
            raise _library.BadDevice(f"{name} is on DLPack device type {device_type}; it must be CPU or CUDA memory")
        tensor = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
        dtype = _DL_TYPES.get((tensor.type_code, tensor.type_bits))
        if dtype is None or tensor.type_lanes != 1:
            raise _library.BadDtype(f"{name} must be of float32, float16 or bfloat16 elements")
        shape = tuple(tensor.shape[i] for i in range(tensor.rank))
        strides = tuple(tensor.strides[i] for i in range(tensor.rank)) if tensor.strides else contiguous_strides(shape)
        data = (tensor.data or 0) + tensor.byte_offset
        return pack(data, dtype, device, shape, strides), device, shape, strides

    def empty(self, like, shape):
        """An array that can be written, of the library that the given one is from. Arrays of JAX never change."""
        library = type(like).__module__.partition(".")[0]
        if library == "cupy":
            return sys.modules[library].empty(shape, like.dtype)
        raise TypeError(f"out is needed: this does not know how to make a {library} array that can be written")

    def stream(self, array, device, threads):
        if device < 0:
            return threads
        interface = getattr(array, "__cuda_array_interface__", None)
        stream = interface.get("stream") if interface else None
        return stream if stream else 0


_kinds = {}


def kind_of(array, name):
    """The kind of an array, by its type; arrays of one type are of one kind."""
    kind = _kinds.get(type(array))
    return kind if kind is not None else _find_kind(array, name)


def _find_kind(array, name):
    names = {base.__module__.partition(".")[0] + "." + base.__name__ for base in type(array).__mro__}
    if "numpy.ndarray" in names:
        kind = NumpyKind()
    elif "torch.Tensor" in names:
        kind = TorchKind()
    elif hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        kind = DLPackKind()
    else:
        raise TypeError(
            f"{name} is a {type(array).__name__}; it must be a NumPy array, a PyTorch tensor or something with "
            "__dlpack__"
        )
    _kinds[type(array)] = kind
    return kind
