# SPDX-License-Identifier: MIT
"""The operators as PyTorch has them: eager expressions, fused functions, torch.compile."""

from ._variants import HARNESS, LIBRARY, ONCE, Variant

SOURCES = ("python/assay/bench/_torch_peers.py", *HARNESS)


def _peer(name, expression, rounding, call, **more):
    return Variant(name, "baseline", expression, rounding, SOURCES, call, **more)


def _softmax(torch, problem):
    x = problem.x

    def eager():
        w = x.float()
        w = (w - w.amax(-1, keepdim=True)).exp()
        return (w / w.sum(-1, keepdim=True)).to(x.dtype)

    compiled = torch.compile(lambda view: torch.softmax(view, -1), dynamic=False)
    return [
        _peer("torch_softmax", "torch.softmax(x, -1)", LIBRARY, lambda: torch.softmax(x, -1)),
        _peer("torch_eager_fp32", "w = x.float(); w = exp(w - max(w)); w / sum(w), cast", ONCE, eager),
        _peer("torch_compile", "torch.compile of torch.softmax(x, -1)", LIBRARY, lambda: compiled(x)),
    ]


def _softmax_backward(torch, problem):
    y, g = problem.y, problem.g

    def expression(y, g):
        wide, slope = y.float(), g.float()
        return (wide * (slope - (wide * slope).sum(-1, keepdim=True))).to(y.dtype)

    compiled = torch.compile(expression, dynamic=False)
    words = "y, g = y.float(), g.float(); y * (g - sum(y * g)), cast"
    return [
        _peer("torch_eager_fp32", words, ONCE, lambda: expression(y, g)),
        _peer(
            "torch_backward_data",
            "torch._softmax_backward_data(g, y, -1, dtype)",
            "y * g first, then the output; the gate allows for both",
            lambda: torch._softmax_backward_data(g, y, -1, y.dtype),
            more=problem.rounded_products,
        ),
        _peer("torch_compile", "torch.compile of the FP32 expression", ONCE, lambda: compiled(y, g)),
    ]


def _gemm(torch, problem):
    a, b, bias, relu = problem.a, problem.b, problem.bias, torch.nn.functional.relu

    def expression(a, b, bias):
        return relu(torch.addmm(bias, a, b))

    compiled = torch.compile(expression, dynamic=False)
    peers = [
        _peer("torch_addmm_relu", "relu(addmm(bias, a, b))", "of the sum, then ReLU", lambda: expression(a, b, bias)),
        _peer("torch_compile", "torch.compile of relu(addmm(bias, a, b))", LIBRARY, lambda: compiled(a, b, bias)),
        _peer(
            "torch_eager_fp32",
            "relu(a.float() @ b.float() + bias.float()), cast",
            ONCE,
            lambda: relu(a.float() @ b.float() + bias.float()).to(a.dtype),
        ),
    ]
    if problem.space.on_gpu:
        peers.append(
            _peer(
                "torch_cublaslt_relu",
                "torch._addmm_activation(bias, a, b): cublasLt with bias and ReLU",
                LIBRARY,
                lambda: torch._addmm_activation(bias, a, b, use_gelu=False),
            )
        )
    return peers


def _attention(torch, problem):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    # It takes ranks from 3 on, and the fast backends take 4 only.
    q, k, v = (one if one.dim() == 4 else one[None, None] for one in (problem.q, problem.k, problem.v))
    attend, causal = torch.nn.functional.scaled_dot_product_attention, problem.causal

    def shaped(result):
        return result.reshape(problem.shape)

    def with_backend(backend):
        def call():
            with sdpa_kernel(backend):
                return shaped(attend(q, k, v, is_causal=causal))

        return call

    peers = [
        _peer(
            "sdpa_auto",
            "scaled_dot_product_attention, backend of its choice",
            LIBRARY,
            lambda: shaped(attend(q, k, v, is_causal=causal)),
            trace=True,
        )
    ]
    backends = [("flash", SDPBackend.FLASH_ATTENTION)]
    if problem.space.on_gpu:
        backends += [("cudnn", SDPBackend.CUDNN_ATTENTION), ("efficient", SDPBackend.EFFICIENT_ATTENTION)]
    if problem.n * problem.n * q.shape[1] * q.shape[0] <= 1 << 26:
        backends.append(("math", SDPBackend.MATH))  # stores every score
    for name, backend in backends:
        peers.append(
            _peer(
                f"sdpa_{name}",
                f"scaled_dot_product_attention, backend {backend.name}",
                LIBRARY,
                with_backend(backend),
                slack=4 if name == "math" else 1,
                trace=True,
            )
        )
    return peers


_MAKERS = {
    "strided_softmax": _softmax,
    "softmax_backward": _softmax_backward,
    "fused_gemm": _gemm,
    "split_softmax": _softmax,
    "streaming_attention": _attention,
}


def peers(problem):
    import torch

    torch.compiler.reset()  # a function is compiled for eight shapes, and beyond them runs as it is without a word
    return _MAKERS[problem.case.operator](torch, problem)


def traced(problem):
    """{name: which kernels ran} of the peers that choose between several."""
    found = {}
    for peer in peers(problem):
        if not peer.trace:
            continue
        try:
            names = kernels_of(peer.call, problem.space.on_gpu)
        except Exception:  # one that does not take this shape has been left out with its reason
            continue
        found[peer.name] = f"ran {', '.join(names)}" if names else "which kernel ran could not be traced"
    return found


def kernels_of(call, on_gpu):
    """Names of what a call runs, the longest first: kernels on a GPU, PyTorch's operators on a CPU. Empty where the
    profiler cannot tell."""
    from torch.profiler import ProfilerActivity, profile

    kind = ProfilerActivity.CUDA if on_gpu else ProfilerActivity.CPU
    try:
        with profile(activities=[kind]) as found:
            call()
        events = found.key_averages()
    except RuntimeError:
        return []
    if on_gpu:
        events = [event for event in events if event.self_device_time_total > 0]
        events.sort(key=lambda event: -event.self_device_time_total)
    else:
        events = [event for event in events if event.key.startswith("aten::_scaled_dot_product")]
    return [event.key[:80] for event in events[:2]]
