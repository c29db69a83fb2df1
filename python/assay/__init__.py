# SPDX-License-Identifier: MIT
"""Fast operators of the transformer on NumPy arrays, PyTorch tensors and whatever speaks DLPack.

The functions are those of the C library libassay, whose contract they keep: inputs are read-only, outputs contiguous
and separate, sums in FP32, one rounding. A bad argument raises a subclass of AssayError with the library's sentence.
"""

from ._library import (
    AssayError,
    BadAlias,
    BadDevice,
    BadDtype,
    BadOption,
    BadPointer,
    BadShape,
    BadStride,
    KernelFault,
    NoMemory,
    RequiresGrad,
    Unavailable,
)
from ._library import path as library_path
from ._library import version as _version
from ._normalizer import Normalizer
from ._operators import (
    attention,
    matmul_bias_relu,
    softmax,
    softmax_backward,
    split_softmax,
    split_softmax_workspace,
)

__version__ = _version().decode()

__all__ = [
    "AssayError",
    "BadAlias",
    "BadDevice",
    "BadDtype",
    "BadOption",
    "BadPointer",
    "BadShape",
    "BadStride",
    "KernelFault",
    "NoMemory",
    "Normalizer",
    "RequiresGrad",
    "Unavailable",
    "attention",
    "library_path",
    "matmul_bias_relu",
    "softmax",
    "softmax_backward",
    "split_softmax",
    "split_softmax_workspace",
]
