# SPDX-License-Identifier: MIT
"""The mergeable state of a softmax over elements that come in pieces, on the CPU."""

import ctypes
import struct

from . import _library, _views

_Pair = ctypes.c_double * 2


class Normalizer:
    """The maximum m of the elements seen so far and s = sum(exp(x - m)), both FP64. Empty: (-inf, 0).

    Normalizer(x) is the state of the elements of x, a contiguous float32 or float64 array on the CPU. Two states merge
    with `|`, in any tree; finish(x) gives exp(x - m) / s.
    """

    __slots__ = ("_state",)

    def __init__(self, x=None, *, threads=0):
        self._state = _Pair(float("-inf"), 0.0)
        if x is not None:
            data, dtype, count = _elements(x, "x")
            _library.check(_library.summarise(dtype, data, count, self._state, _queue(threads)))

    @property
    def maximum(self):
        return self._state[0]

    @property
    def sum(self):
        return self._state[1]

    def __or__(self, other):
        if not isinstance(other, Normalizer):
            return NotImplemented
        merged = Normalizer()
        _library.check(_library.merge(self._state, other._state, merged._state, _queue(0)))
        return merged

    def update(self, x, *, threads=0):
        """Adds the elements of x to this state. Returns self."""
        self._state = (self | Normalizer(x, threads=threads))._state
        return self

    def finish(self, x, *, out=None, threads=0):
        """exp(x - m) / s, of the type of x."""
        data, dtype, count = _elements(x, "x")
        if out is None:
            out = _views.kind_of(x, "x").empty(x, x.shape)
        target, out_dtype, out_count = _elements(out, "out", True)
        if out_dtype != dtype:
            raise _library.BadDtype("out and x are of different types; they must be of one type")
        if out_count != count:
            raise _library.BadShape(f"out has {out_count} elements and x {count}; they must be as many")
        _library.check(_library.finish(self._state, dtype, data, count, target, _queue(threads)))
        return out

    def __repr__(self):
        return f"Normalizer(maximum={self.maximum!r}, sum={self.sum!r})"


def _queue(threads):
    return _views.queue_of(_views.DEVICE_CPU, threads)


def _elements(array, name, written=False):
    tensor, device, shape, strides = _views.kind_of(array, name).view(array, name, written)
    data, dtype = struct.unpack_from("=Qi", tensor)
    if device != _views.DEVICE_CPU:
        raise _library.BadDevice(f"{name} is on CUDA device {device}; a normaliser's elements must be on the CPU")
    count = 1
    for size in shape:
        count *= size
    if count > 1 and tuple(strides) != _views.contiguous_strides(shape):
        raise _library.BadStride(f"{name} is not contiguous; it must be")
    return data, dtype, count
