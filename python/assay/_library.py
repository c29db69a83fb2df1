# SPDX-License-Identifier: MIT
"""Finds libassay, loads it, and turns its statuses into exceptions."""

import ctypes
import ctypes.util
import os
import pathlib

STATUS_OK = 0
STATUS_NAMES = (
    "OK",
    "TODO",
    "BAD_POINTER",
    "BAD_SHAPE",
    "BAD_DTYPE",
    "BAD_STRIDE",
    "BAD_DEVICE",
    "BAD_ALIAS",
    "BAD_OPTION",
    "NO_MEMORY",
    "UNAVAILABLE",
    "KERNEL_FAULT",
)


class AssayError(Exception):
    """A call that libassay rejected, with the library's sentence; `status` is the name of the C status."""

    status = ""


class BadPointer(AssayError, ValueError):
    status = "BAD_POINTER"


class BadShape(AssayError, ValueError):
    status = "BAD_SHAPE"


class BadDtype(AssayError, TypeError):
    status = "BAD_DTYPE"


class BadStride(AssayError, ValueError):
    status = "BAD_STRIDE"


class BadDevice(AssayError, ValueError):
    status = "BAD_DEVICE"


class BadAlias(AssayError, ValueError):
    status = "BAD_ALIAS"


class BadOption(AssayError, ValueError):
    status = "BAD_OPTION"


class RequiresGrad(AssayError, ValueError):
    """An input that requires grad, outside of assay.torch."""

    status = "BAD_OPTION"


class NoMemory(AssayError, MemoryError):
    status = "NO_MEMORY"


class Unavailable(AssayError, RuntimeError):
    status = "UNAVAILABLE"


class KernelFault(AssayError, RuntimeError):
    status = "KERNEL_FAULT"


_ERRORS = {
    error.status: error
    for error in (
        BadPointer,
        BadShape,
        BadDtype,
        BadStride,
        BadDevice,
        BadAlias,
        BadOption,
        NoMemory,
        Unavailable,
        KernelFault,
    )
}


def _candidates():
    """Paths to try, the most particular first: the user's word, the package's own copy, a source tree, the system."""
    named = os.environ.get("ASSAY_LIBRARY")
    if named:
        yield named
        return
    here = pathlib.Path(__file__).resolve().parent
    yield str(here / "libassay.so.0")
    yield str(here.parent.parent / "build" / "libassay.so.0")
    found = ctypes.util.find_library("assay")
    if found:
        yield found


def _load():
    tried = []
    for path in _candidates():
        if os.sep in path and not os.path.exists(path):
            tried.append(f"{path} (not there)")
            continue
        try:
            return path, ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"{path} ({error})")
    raise ImportError(
        "libassay.so.0 is not found: run 'make' in the source tree, install the library, or name its file in "
        "ASSAY_LIBRARY; tried " + ", ".join(tried or ["nothing"])
    )


path, lib = _load()

_pointer = ctypes.c_void_p
_bytes = ctypes.c_char_p
_int64 = ctypes.c_int64


def _declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype = result
    function.argtypes = arguments
    return function


version = _declare("assay_version", _bytes)
last_error = _declare("assay_last_error", _bytes)
queue_open_cpu = _declare("assay_queue_open_cpu", ctypes.c_int, ctypes.c_int, _pointer)
queue_open_cuda = _declare("assay_queue_open_cuda", ctypes.c_int, ctypes.c_int, _pointer, _pointer)
queue_close = _declare("assay_queue_close", None, _pointer)
queue_wait = _declare("assay_queue_wait", ctypes.c_int, _pointer)
# Called with bytes (arrays of tensors and options are packed: see _views.py), None or a c_void_p only, which need no
# declared types; declaring them would cost half as much again as the call.
call = lib.assay_call
call.restype = ctypes.c_int
summarise = _declare("assay_normalizer_summarise", ctypes.c_int, ctypes.c_int, _pointer, _int64, _pointer, _pointer)
merge = _declare("assay_normalizer_merge", ctypes.c_int, _pointer, _pointer, _pointer, _pointer)
finish = _declare("assay_normalizer_finish", ctypes.c_int, _pointer, ctypes.c_int, _pointer, _int64, _pointer, _pointer)
workspace_size = _declare("assay_split_softmax_workspace", ctypes.c_int, _int64, _int64, _int64, _pointer, _pointer)


def fail(status):
    """Raises what belongs to a status that is not OK, with the sentence of this thread's last call."""
    name = STATUS_NAMES[status] if 0 <= status < len(STATUS_NAMES) else f"status {status}"
    raise _ERRORS.get(name, AssayError)(last_error().decode())


def check(status):
    if status != STATUS_OK:
        fail(status)
