# SPDX-License-Identifier: MIT
"""What all compatible functions ask of their arguments."""

import torch

HALVES = (torch.float16, torch.bfloat16)
FLOATS = (torch.float32, *HALVES)


def tensor(value, name, rank, dtypes):
    """A CUDA tensor of this rank and one of these types that autograd does not follow."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name} is a {type(value).__name__}; it must be a torch.Tensor")
    if not value.is_cuda:
        raise ValueError(f"{name} is on {value.device}; it must be a CUDA tensor")
    if value.dtype not in dtypes:
        raise TypeError(f"{name} is {value.dtype}; it must be " + " or ".join(map(str, dtypes)))
    if value.dim() != rank:
        raise ValueError(f"{name} has rank {value.dim()}; it must be {rank}")
    if value.requires_grad:
        raise ValueError(f"{name} requires grad; this function does not record: detach it")


def alike(value, name, first, of):
    """The device and the type of another tensor."""
    if value.device != first.device:
        raise ValueError(f"{name} is on {value.device} and {of} on {first.device}; they must be on one device")
    if value.dtype != first.dtype:
        raise TypeError(f"{name} is {value.dtype} and {of} is {first.dtype}; they must be of one type")


def choice(value, name, values):
    """One of a few numbers; True is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is a {type(value).__name__}; it must be an int")
    if value not in values:
        raise ValueError(f"{name} is {value}; it must be " + ", ".join(map(str, values[:-1])) + f" or {values[-1]}")


def width(columns, most):
    if not 1 <= columns <= most:
        raise ValueError(f"a row has {columns} columns; it must have 1 to {most}")
