# SPDX-License-Identifier: MIT
"""The functions that a foreign checker of these operators expects, under its names and with its rules.

Five modules hold one function each: strided_softmax.softmax, softmax_backward.backward, fused_gemm.matmul_bias_relu,
split_softmax.softmax and streaming_attention.attention. They take CUDA tensors of PyTorch only, keep the workshops'
limits, answer a bad argument with ValueError or TypeError, and return a fresh contiguous tensor.
"""
