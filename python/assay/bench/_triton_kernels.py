# SPDX-License-Identifier: MIT
"""Plain kernels in Triton, as a first version is written: one program a row or a tile. Peers, not the library."""

import triton
import triton.language as tl


def power_of_two(count):
    return triton.next_power_of_2(count)


# ---- softmax, a program a row ------------------------------------------------------------------------------


@triton.jit
def softmax_row_kernel(x, y, columns, row_stride, column_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, BLOCK)
    inside = place < columns
    values = tl.load(x + row * row_stride + place * column_stride, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 0))
    result = powers / tl.sum(powers, 0)
    tl.store(y + row * columns + place, result.to(y.dtype.element_ty), mask=inside)


def softmax_row(x, y, warps):
    block = power_of_two(x.shape[1])
    softmax_row_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), x.stride(1), BLOCK=block, num_warps=warps)


# ---- softmax of a transposed view: a program owns neighbouring rows and reads them twice -------------------


@triton.jit
def softmax_columns_kernel(x, y, rows, columns, column_stride, ROWS: tl.constexpr, STEP: tl.constexpr):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    there = row < rows
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, columns, STEP):
        column = start + tl.arange(0, STEP)
        inside = (column < columns)[:, None] & there[None, :]
        source = x + column[:, None].to(tl.int64) * column_stride + row[None, :]
        part = tl.load(source, mask=inside, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(part, 0))
        # A row that is not there has no maximum; it must not make NaN out of the difference of two infinities.
        level = tl.where(there, higher, 0.0)
        total = total * tl.exp(tl.where(there, top, 0.0) - level) + tl.sum(tl.exp(part - level[None, :]), 0)
        top = higher
    level = tl.where(there, top, 0.0)
    scale = 1.0 / tl.where(there, total, 1.0)
    for start in range(0, columns, STEP):
        column = start + tl.arange(0, STEP)
        inside = (column < columns)[:, None] & there[None, :]
        source = x + column[:, None].to(tl.int64) * column_stride + row[None, :]
        part = tl.load(source, mask=inside, other=-float("inf")).to(tl.float32)
        result = tl.exp(part - level[None, :]) * scale[None, :]
        target = y + row[:, None] * columns + column[None, :]
        tl.store(target, tl.trans(result).to(y.dtype.element_ty), mask=tl.trans(inside))


def softmax_columns(x, y, own, step=128, warps=4):
    rows, columns = x.shape
    grid = (triton.cdiv(rows, own),)
    softmax_columns_kernel[grid](x, y, rows, columns, x.stride(1), ROWS=own, STEP=step, num_warps=warps)


# ---- softmax backward --------------------------------------------------------------------------------------


@triton.jit
def softmax_backward_kernel(y, g, dx, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, BLOCK)
    inside = place < columns
    probabilities = tl.load(y + row * columns + place, mask=inside, other=0.0).to(tl.float32)
    gradient = tl.load(g + row * columns + place, mask=inside, other=0.0).to(tl.float32)
    dot = tl.sum(probabilities * gradient, 0)
    result = probabilities * (gradient - dot)
    tl.store(dx + row * columns + place, result.to(dx.dtype.element_ty), mask=inside)


def softmax_backward(y, g, dx, warps):
    softmax_backward_kernel[(y.shape[0],)](y, g, dx, y.shape[1], BLOCK=power_of_two(y.shape[1]), num_warps=warps)


# ---- product, bias, ReLU -----------------------------------------------------------------------------------


@triton.jit
def gemm_kernel(
    a,
    b,
    bias,
    c,
    m,
    n,
    k,
    a_stride,
    b_stride,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
):
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    first = program // (GROUP * tiles_n) * GROUP
    height = tl.minimum(tiles_m - first, GROUP)
    tile_m = first + program % (GROUP * tiles_n) % height
    tile_n = program % (GROUP * tiles_n) // height
    row = tile_m * BM + tl.arange(0, BM)
    column = tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        place = start + depth
        rows_there = (row[:, None] < m) & (place[None, :] < k)
        columns_there = (place[:, None] < k) & (column[None, :] < n)
        left = tl.load(a + row[:, None] * a_stride + place[None, :], mask=rows_there, other=0.0)
        right = tl.load(b + place[:, None] * b_stride + column[None, :], mask=columns_there, other=0.0)
        sums = tl.dot(left, right, sums)
    sums += tl.load(bias + column, mask=column < n, other=0.0).to(tl.float32)[None, :]
    sums = tl.maximum(sums, 0.0)
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(c + row[:, None] * n + column[None, :], sums.to(c.dtype.element_ty), mask=inside)


def gemm(a, b, bias, c, tile_m):
    m, k = a.shape
    n = b.shape[1]
    tile_n = 128 if n >= 1024 else 64
    grid = (triton.cdiv(m, tile_m) * triton.cdiv(n, tile_n),)
    warps = 8 if tile_m >= 128 else 4
    sizes = {"BM": tile_m, "BN": tile_n, "BK": 64, "GROUP": 8}
    gemm_kernel[grid](a, b, bias, c, m, n, k, a.stride(0), b.stride(0), **sizes, num_warps=warps, num_stages=3)


# ---- softmax of wide rows in three launches ----------------------------------------------------------------


@triton.jit
def split_part_kernel(x, tops, totals, columns, chunks, CHUNK: tl.constexpr):
    chunk = tl.program_id(0)
    row = tl.program_id(1).to(tl.int64)
    place = chunk * CHUNK + tl.arange(0, CHUNK)
    values = tl.load(x + row * columns + place, mask=place < columns, other=-float("inf")).to(tl.float32)
    top = tl.max(values, 0)
    tl.store(tops + row * chunks + chunk, top)
    tl.store(totals + row * chunks + chunk, tl.sum(tl.exp(values - top), 0))


@triton.jit
def split_merge_kernel(tops, totals, states, chunks, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, BLOCK)
    inside = place < chunks
    top = tl.load(tops + row * chunks + place, mask=inside, other=-float("inf"))
    total = tl.load(totals + row * chunks + place, mask=inside, other=0.0)
    highest = tl.max(top, 0)
    tl.store(states + 2 * row, highest)
    tl.store(states + 2 * row + 1, tl.sum(total * tl.exp(top - highest), 0))


@triton.jit
def split_finish_kernel(x, y, states, columns, CHUNK: tl.constexpr):
    row = tl.program_id(1).to(tl.int64)
    place = tl.program_id(0) * CHUNK + tl.arange(0, CHUNK)
    inside = place < columns
    values = tl.load(x + row * columns + place, mask=inside, other=-float("inf")).to(tl.float32)
    result = tl.exp(values - tl.load(states + 2 * row)) / tl.load(states + 2 * row + 1)
    tl.store(y + row * columns + place, result.to(y.dtype.element_ty), mask=inside)


def split_softmax(x, y, tops, totals, states, chunk):
    rows, columns = x.shape
    chunks = triton.cdiv(columns, chunk)
    warps = 8 if chunk >= 4096 else 4
    split_part_kernel[(chunks, rows)](x, tops, totals, columns, chunks, CHUNK=chunk, num_warps=warps)
    split_merge_kernel[(rows,)](tops, totals, states, chunks, BLOCK=power_of_two(chunks), num_warps=4)
    split_finish_kernel[(chunks, rows)](x, y, states, columns, CHUNK=chunk, num_warps=warps)


# ---- attention without stored scores -----------------------------------------------------------------------


@triton.jit
def attention_kernel(q, k, v, o, n, scale, D: tl.constexpr, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * n * D
    first = tl.program_id(0) * BM
    row = first + tl.arange(0, BM)
    lane = tl.arange(0, D)
    query = tl.load(q + head + row[:, None] * D + lane[None, :], mask=row[:, None] < n, other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    end = n
    if CAUSAL:
        end = tl.minimum(first + BM, n)
    for start in range(0, end, BN):
        key = start + tl.arange(0, BN)
        keys = tl.load(k + head + key[None, :] * D + lane[:, None], mask=key[None, :] < n, other=0.0)
        scores = tl.dot(query, keys) * scale
        seen = key[None, :] < n
        if CAUSAL:
            seen = seen & (key[None, :] <= row[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        factor = tl.exp2(top - higher)
        total = total * factor + tl.sum(weights, 1)
        values = tl.load(v + head + key[:, None] * D + lane[None, :], mask=key[:, None] < n, other=0.0)
        sums = tl.dot(weights.to(values.dtype), values, sums * factor[:, None])
        top = higher
    sums = sums / total[:, None]
    tl.store(o + head + row[:, None] * D + lane[None, :], sums.to(o.dtype.element_ty), mask=row[:, None] < n)


def attention(q, k, v, o, causal, block_n):
    heads, n, d = q.shape[0] * q.shape[1], q.shape[2], q.shape[3]
    rows = 128 if n >= 4096 else 64
    # The exponential is one of base 2: log2(e) goes into the scale.
    scale = 1.4426950408889634 / d**0.5
    warps = 8 if rows == 128 else 4
    sizes = {"D": d, "CAUSAL": causal, "BM": rows, "BN": block_n}
    attention_kernel[(triton.cdiv(n, rows), heads)](q, k, v, o, n, scale, **sizes, num_warps=warps, num_stages=3)
