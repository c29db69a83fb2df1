# SPDX-License-Identifier: MIT
# peers_cases.py - what scripts/peers.py times: for each operator its shapes, by the names that Assay's reports give
# them, the FP64 values with the error that Assay's gate allows, and the peers. PyTorch comes from the caller: this
# file can be read where there is none.

UNIT = 2.0**-24  # half an ulp of FP32 at 1
UNIT_16 = 2.0**-11  # half an ulp of FP16 at 1
TINY_16 = 2.0**-25  # half of FP16's smallest subnormal step

CONTRACTS = {
    "strided_softmax": ("softmax of every row", "relative: u_out + (8 + min(n,1024) + n/32)*u + abs(x-m)*u"),
    "softmax_backward": ("y * (g - sum(y * g)) of every row",
                         "absolute: abs(y)*((6 + min(n,1024) + n/32)*u*sum(abs(y*g)) + 2u*abs(g-dot)) + u_out*abs(dx)"),
    "fused_gemm": ("relu(A B + bias)", "absolute: (k + 2)*2u*(sum(abs(a*b)) + abs(bias)) + u_out*abs(out)"),
    "split_softmax": ("softmax of every row", "relative: u_out + (8 + min(n,1024) + n/32)*u + abs(x-m)*u"),
    "streaming_attention": ("softmax(Q K' / sqrt(d)) V",
                            "absolute: sum(p*abs(v)) * (2*u_in + errors of scores and sums) + u_out*abs(o)"),
}

SEEDS = "seeds"  # shapes of the seed documents
LARGE = "large"


class Peer:
    """A way to compute the case: `call` fills and returns its output, and takes nothing. One that rounds more often
    than Assay allows is held to `slack` times the allowed error, which its report says."""

    def __init__(self, name, kind, expression, rounding, call, slack=1):
        self.name, self.kind, self.expression, self.call, self.slack = name, kind, expression, call, slack
        self.rounding = rounding if slack == 1 else f"{rounding}; held to {slack} times the allowed error"


class Case:
    """A shape under the name that reports have for it; `work` is (bytes, operations) as Assay's tables count them."""

    def __init__(self, operator, dims, layout, options, group, work, make):
        self.operator, self.dims, self.layout, self.options = operator, dims, layout, options
        self.group, self.work, self.make = group, work, make

    @property
    def name(self):
        sizes = list(self.dims.values())
        while len(sizes) > 1 and sizes[-1] == 0:
            sizes.pop()
        options = [f"{name}={value}" for name, value in self.options.items() if value]
        return " ".join(["x".join(map(str, sizes)), self.layout] + options + ["fp16"])


ONCE = "once, of the output; everything before is FP32"
LIBRARY = "as the library does it"


def allowed_softmax(y, distance, count):
    """relative: u_out + (8 + min(n,1024) + n/32)*u + abs(x-m)*u; y and distance are FP64."""
    return y * ((8 + min(count, 1024) + count / 32) * UNIT + distance * UNIT) + (y * UNIT_16).clamp(min=TINY_16)


def softmax_reference(x):
    """Bands of rows, so that FP64 copies stay small: yields (rows, wanted, allowed)."""
    step = max(1, (1 << 25) // x.shape[1])
    for first in range(0, x.shape[0], step):
        part = x[first : first + step].double()
        distance = part.amax(-1, keepdim=True) - part
        powers = (-distance).exp()
        wanted = powers / powers.sum(-1, keepdim=True)
        yield slice(first, first + step), wanted, allowed_softmax(wanted, distance, x.shape[1])


def softmax_peers(torch, kernels, x, transposed, group):
    rows, columns = x.shape
    y = torch.empty((rows, columns), dtype=x.dtype, device=x.device)

    def eager():
        w = x.float()
        w = (w - w.amax(-1, keepdim=True)).exp()
        return (w / w.sum(-1, keepdim=True)).to(x.dtype)

    peers = [
        Peer("torch_softmax", "torch", "torch.softmax(x, -1)", LIBRARY, lambda: torch.softmax(x, -1)),
        Peer("torch_eager_fp32", "torch", "w = x.float(); w = exp(w - max(w)); w / sum(w), cast", ONCE, eager),
    ]
    if group == SEEDS or rows == columns:
        compiled = torch.compile(lambda view: torch.softmax(view, -1), dynamic=False)
        peers.append(Peer("torch_compile", "torch", "torch.compile of torch.softmax(x, -1)", LIBRARY, lambda: compiled(x)))
    if kernels is None:
        return peers

    def row(warps, source):
        def call():
            kernels.softmax_row(source() if callable(source) else source, y, warps)
            return y

        return call

    for warps in (4, 8):
        peers.append(Peer(f"triton_row_{warps}w", "triton", f"one program of {warps} warps a row", ONCE, row(warps, x)))
    if transposed:
        peers.append(
            Peer("triton_copy_then_row", "triton", "c = x.contiguous(); one program of 8 warps a row", ONCE, row(8, x.contiguous))
        )
        for own in (32, 64):

            def columns_call(own=own):
                kernels.softmax_columns(x, y, own)
                return y

            peers.append(Peer(f"triton_columns_{own}", "triton", f"a program owns {own} neighbouring rows and reads them twice", ONCE, columns_call))
    return peers


def make_softmax(rows, columns, transposed, group):
    def make(torch, kernels, normal):
        x = normal(columns, rows).t() if transposed else normal(rows, columns)
        return softmax_peers(torch, kernels, x, transposed, group), lambda: softmax_reference(x)

    work = (4 * rows * columns, 5 * rows * columns)
    return Case("strided_softmax", {"rows": rows, "columns": columns}, "transposed" if transposed else "packed", {}, group, work, make)


# ---- softmax backward --------------------------------------------------------------------------------------


def make_backward(rows, columns, group):
    def make(torch, kernels, normal):
        y = torch.softmax(normal(rows, columns).float(), -1).half()
        g = normal(rows, columns)
        dx = torch.empty_like(y)

        def eager():
            wide, slope = y.float(), g.float()
            return (wide * (slope - (wide * slope).sum(-1, keepdim=True))).to(y.dtype)

        compiled = torch.compile(eager, dynamic=False)
        peers = [
            Peer("torch_eager_fp32", "torch", "y, g = y.float(), g.float(); y * (g - sum(y * g)), cast", ONCE, eager),
            Peer("torch_backward_data", "torch", "torch._softmax_backward_data(g, y, -1, float16)", "as the library does it, more than once",
                 lambda: torch._softmax_backward_data(g, y, -1, y.dtype), slack=4),
            Peer("torch_compile", "torch", "torch.compile of the FP32 expression", ONCE, compiled),
        ]
        if kernels is not None:
            for warps in (4, 8):

                def call(warps=warps):
                    kernels.softmax_backward(y, g, dx, warps)
                    return dx

                peers.append(Peer(f"triton_row_{warps}w", "triton", f"one program of {warps} warps a row", ONCE, call))

        def reference():
            step = max(1, (1 << 25) // columns)
            for first in range(0, rows, step):
                part = slice(first, first + step)
                wide, slope = y[part].double(), g[part].double()
                product = wide * slope
                rest = slope - product.sum(-1, keepdim=True)
                wanted = wide * rest
                chain = (6 + min(columns, 1024) + columns / 32) * UNIT
                allowed = wide * (chain * product.abs().sum(-1, keepdim=True) + 2 * UNIT * rest.abs())
                yield part, wanted, allowed + (wanted.abs() * UNIT_16).clamp(min=TINY_16)

        return peers, reference

    work = (6 * rows * columns, 4 * rows * columns)
    return Case("softmax_backward", {"rows": rows, "columns": columns}, "packed", {}, group, work, make)


# ---- product, bias, ReLU -----------------------------------------------------------------------------------


def make_gemm(m, n, k, group):
    def make(torch, kernels, normal):
        a, b, bias = normal(m, k), normal(k, n), normal(n)
        c = torch.empty((m, n), dtype=a.dtype, device=a.device)
        functional = torch.nn.functional
        peers = [
            Peer("torch_addmm_relu", "torch", "relu(addmm(bias, A, B))", "of the sum, then ReLU", lambda: functional.relu(torch.addmm(bias, a, b))),
            Peer("torch_cublaslt_relu", "torch", "torch._addmm_activation(bias, A, B): cublasLt with bias and ReLU", LIBRARY,
                 lambda: torch._addmm_activation(bias, a, b, use_gelu=False)),
        ]
        if group == SEEDS:
            peers.append(Peer("torch_eager_fp32", "torch", "relu(A.float() @ B.float() + bias.float()), cast", ONCE,
                              lambda: functional.relu(a.float() @ b.float() + bias.float()).to(a.dtype)))
        if kernels is not None:
            for tile in (32, 64, 128):

                def call(tile=tile):
                    kernels.gemm(a, b, bias, c, tile)
                    return c

                peers.append(Peer(f"triton_bm{tile}", "triton", f"tiles of {tile} rows, groups of 8", ONCE, call))

        def reference():
            right, size = b.double(), b.double().abs()
            step = max(1, (1 << 26) // max(n, k))
            for first in range(0, m, step):
                part = slice(first, first + step)
                left, offset = a[part].double(), bias.double()
                wanted = (left @ right + offset).relu()
                allowed = (k + 2) * 2 * UNIT * (left.abs() @ size + offset.abs())
                yield part, wanted, allowed + (wanted * UNIT_16).clamp(min=TINY_16)

        return peers, reference

    work = (2 * (m * k + k * n + n + m * n), 2 * m * n * k)
    return Case("fused_gemm", {"m": m, "n": n, "k": k}, "packed", {}, group, work, make)


# ---- wide rows ---------------------------------------------------------------------------------------------


def make_split(rows, columns, group):
    def make(torch, kernels, normal):
        x = normal(rows, columns)
        y = torch.empty_like(x)
        peers = [peer for peer in softmax_peers(torch, None, x, False, group) if peer.kind == "torch"]
        if kernels is not None:
            for chunk in (256, 1024, 4096):
                chunks = (columns + chunk - 1) // chunk
                tops = torch.empty((rows, chunks), dtype=torch.float32, device=x.device)
                totals = torch.empty_like(tops)
                states = torch.empty((rows, 2), dtype=torch.float32, device=x.device)

                def call(chunk=chunk, tops=tops, totals=totals, states=states):
                    kernels.split_softmax(x, y, tops, totals, states, chunk)
                    return y

                peers.append(Peer(f"triton_chunk{chunk}", "triton", f"partials of {chunk}, merge, normalise: three launches", ONCE, call))
        return peers, lambda: softmax_reference(x)

    work = (4 * rows * columns, 5 * rows * columns)
    return Case("split_softmax", {"rows": rows, "columns": columns}, "no_workspace", {}, group, work, make)


# ---- attention ---------------------------------------------------------------------------------------------


def attention_reference(torch, q, k, v, causal):
    """Some query rows of every head, since FP64 scores of all would be large."""
    n, d = q.shape[2], q.shape[3]
    picked = torch.arange(n, device=q.device) if n <= 2048 else torch.randperm(n, device=q.device)[:64]
    for h in range(q.shape[1]):
        left, right, values = q[0, h, picked].double(), k[0, h].double(), v[0, h].double()
        scores = left @ right.t() / d**0.5
        slack = (left.abs() @ right.abs().t()) / d**0.5 * (d + 2) * 2 * UNIT
        if causal:
            hidden = torch.arange(n, device=q.device)[None, :] > picked[:, None]
            scores, slack = scores.masked_fill(hidden, -float("inf")), slack.masked_fill(hidden, 0)
        weights = scores.softmax(-1)
        wanted = weights @ values
        spread = weights @ values.abs()
        share = 2 * UNIT_16 + (2 * slack + scores.amax(-1, keepdim=True).abs() * 4 * UNIT).amax(-1, keepdim=True) + (16 + n) * 2 * UNIT
        yield (0, h, picked), wanted, spread * share + (wanted.abs() * UNIT_16).clamp(min=TINY_16)


def make_attention(n, d, heads, causal, group):
    def make(torch, kernels, normal):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        q, k, v = (normal(1, max(heads, 1), n, d) for _ in range(3))
        o = torch.empty_like(q)
        attend = torch.nn.functional.scaled_dot_product_attention

        def with_backend(backend):
            def call():
                with sdpa_kernel(backend):
                    return attend(q, k, v, is_causal=causal)

            return call

        peers = [Peer("sdpa_auto", "torch", "scaled_dot_product_attention, backend of its choice", LIBRARY, lambda: attend(q, k, v, is_causal=causal))]
        for name in ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION", "MATH"):
            if name == "MATH" and group == LARGE:
                continue
            short = name.split("_")[0].lower()
            peers.append(Peer(f"sdpa_{short}", "torch", f"scaled_dot_product_attention, backend {name}", LIBRARY, with_backend(getattr(SDPBackend, name))))
        if kernels is not None:
            for block in (32, 64):

                def call(block=block):
                    kernels.attention(q, k, v, o, causal, block)
                    return o

                peers.append(Peer(f"triton_bn{block}", "triton", f"key tiles of {block}, online softmax", "weights before PV, and the output", call))
        return peers, lambda: attention_reference(torch, q, k, v, causal)

    all_heads = max(heads, 1)
    pairs = n * (n + 1) // 2 if causal else n * n
    work = (8 * n * d * all_heads, pairs * (4 * d + 4) * all_heads)
    dims = {"n": n, "d": d, "heads": heads, "batch": 1 if heads else 0}
    return Case("streaming_attention", dims, "packed", {"causal": int(causal)}, group, work, make)


CASES = [
    make_softmax(256, 257, True, SEEDS),
    make_softmax(1024, 1024, True, SEEDS),
    make_backward(256, 1025, SEEDS),
    make_backward(1024, 4097, SEEDS),
    make_gemm(127, 65, 33, SEEDS),
    make_gemm(512, 512, 512, SEEDS),
    make_split(4, 32769, SEEDS),
    make_split(64, 131072, SEEDS),
    make_attention(129, 32, 0, True, SEEDS),
    make_attention(512, 64, 0, True, SEEDS),
    make_attention(2048, 64, 0, True, LARGE),
    make_softmax(256, 257, False, LARGE),
    make_softmax(1024, 1024, False, LARGE),
    make_softmax(8192, 8192, False, LARGE),
    make_softmax(8192, 8192, True, LARGE),
    make_softmax(32768, 4096, True, LARGE),
    make_backward(16384, 8192, LARGE),
    make_gemm(4096, 4096, 4096, LARGE),
    make_gemm(8192, 8192, 8192, LARGE),
    make_split(1, 131072, LARGE),
    make_split(512, 131072, LARGE),
] + [make_attention(n, d, 16, causal, LARGE) for n in (4096, 16384) for d in (64, 128) for causal in (True, False)]
