# SPDX-License-Identifier: MIT
"""The operators on NumPy arrays against FP64, the errors, and what the functions promise about memory."""

import threading
import unittest

import numpy as np

import assay

HALF_ULP = {np.float32: 2.0**-24, np.float16: 2.0**-11}
U = 2.0**-24


def normal(shape, dtype, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def softmax64(x):
    x = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)


class Values(unittest.TestCase):
    def close(self, got, expected, allowed):
        """NaN passes nowhere."""
        self.assertEqual(got.shape, expected.shape)
        wrong = ~(np.abs(got.astype(np.float64) - expected) <= allowed)
        self.assertFalse(wrong.any(), f"{wrong.sum()} of {wrong.size} elements are off")

    def softmax_close(self, got, x):
        """The relative bound of the operator's contract, and the least subnormal of FP16."""
        expected = softmax64(x)
        n = x.shape[1]
        spread = np.abs(x.astype(np.float64) - x.astype(np.float64).max(axis=1, keepdims=True))
        bound = HALF_ULP[x.dtype.type] + (8 + min(n, 1024) + n / 32 + spread) * U
        self.close(got, expected, bound * expected + (2.0**-25 if x.dtype == np.float16 else 0))

    def test_softmax_of_any_strides(self):
        for dtype in (np.float32, np.float16):
            x = normal((37, 101), dtype, 1)
            for view in (x, x.T, x[::2, ::3], x[3:9, 5:6], np.broadcast_to(x[:1], (5, 101)), np.asfortranarray(x)):
                got = assay.softmax(view)
                self.assertTrue(got.flags.c_contiguous)
                self.assertEqual(got.dtype, dtype)
                self.softmax_close(got, view)

    def test_softmax_without_rows(self):
        self.assertEqual(assay.softmax(np.empty((0, 5), np.float32)).shape, (0, 5))

    def test_split_softmax_with_and_without_workspace(self):
        x = normal((3, 10007), np.float16, 2)
        for chunk in (0, 256, 1024, 4096):
            size, alignment = assay.split_softmax_workspace(*x.shape, chunk=chunk)
            room = np.empty(size // 4 + alignment, np.float32)
            first = -room.ctypes.data % alignment // 4
            with_space = assay.split_softmax(x, chunk=chunk, workspace=room[first : first + size // 4])
            self.softmax_close(with_space, x)
            self.assertTrue((with_space == assay.split_softmax(x, chunk=chunk)).all())

    def test_softmax_backward(self):
        for dtype in (np.float32, np.float16):
            y, g = assay.softmax(normal((19, 65), dtype, 3)), normal((65, 19), dtype, 4).T
            y64, g64 = y.astype(np.float64), g.astype(np.float64)
            dot = (y64 * g64).sum(axis=1, keepdims=True)
            expected = y64 * (g64 - dot)
            n = y.shape[1]
            chain = (6 + n + n / 32) * U * np.abs(y64 * g64).sum(axis=1, keepdims=True) + 2 * U * np.abs(g64 - dot)
            allowed = (
                np.abs(y64) * chain + HALF_ULP[dtype] * np.abs(expected) + (2.0**-25 if dtype == np.float16 else 0)
            )
            self.close(assay.softmax_backward(y, g), expected, allowed)

    def test_matmul_bias_relu(self):
        a, b, bias = normal((33, 40), np.float16, 5), normal((40, 21), np.float16, 6), normal(21, np.float16, 7)
        a64, b64, bias64 = (x.astype(np.float64) for x in (a, b, bias))
        expected = np.maximum(a64 @ b64 + bias64, 0)
        allowed = 42 * U * (np.abs(a64) @ np.abs(b64) + np.abs(bias64)) + 2.0**-11 * expected + 2.0**-25
        for knobs in ({}, {"group": 4}, {"tile_m": 16}, {"group": 8, "tile_m": 64}):
            self.close(assay.matmul_bias_relu(a, b, bias, **knobs), expected, allowed)

    def test_attention_of_rank_2_3_and_4(self):
        q, k, v = (normal((2, 3, 29, 16), np.float16, seed) for seed in (8, 9, 10))
        q64, k64, v64 = (x.astype(np.float64) for x in (q, k, v))
        scores = q64 @ k64.swapaxes(2, 3) / 4
        for causal in (False, True):
            seen = np.where(np.tri(29) > 0, scores, -np.inf) if causal else scores
            weights = np.exp(seen - seen.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            expected = weights @ v64
            allowed = 4 * 2.0**-11 * (weights @ np.abs(v64)) + 2.0**-25
            self.close(assay.attention(q, k, v, causal=causal), expected, allowed)
            self.close(assay.attention(q[1], k[1], v[1], causal=causal), expected[1], allowed[1])
            self.close(assay.attention(q[1, 2], k[1, 2], v[1, 2], causal=causal), expected[1, 2], allowed[1, 2])

    def test_normalizer(self):
        x = normal(1000, np.float32, 11)
        whole = assay.Normalizer(x)
        parts = (assay.Normalizer(x[:10]) | assay.Normalizer(x[10:600])) | assay.Normalizer().update(x[600:])
        self.assertEqual(whole.maximum, x.max())
        self.assertEqual(parts.maximum, whole.maximum)
        x64 = x.astype(np.float64)
        expected = np.exp(x64 - x64.max()).sum()
        for state in (whole, parts):
            self.assertLessEqual(abs(state.sum - expected), 1010 * U * expected)
        self.close(parts.finish(x), np.exp(x64 - x64.max()) / expected, 1100 * U * np.exp(x64 - x64.max()) / expected)
        empty = assay.Normalizer()
        self.assertEqual((empty.maximum, empty.sum), (float("-inf"), 0.0))
        self.assertEqual(((empty | whole).maximum, (empty | whole).sum), (whole.maximum, whole.sum))


class Memory(unittest.TestCase):
    def test_out_is_returned_and_written(self):
        x = normal((4, 9), np.float32, 12)
        out = np.full((4, 9), np.nan, np.float32)
        self.assertIs(assay.softmax(x, out=out), out)
        self.assertTrue((out == assay.softmax(x)).all())

    def test_inputs_stay(self):
        x = normal((4, 9), np.float16, 13)
        before = x.copy()
        x.flags.writeable = False
        assay.softmax(x)
        self.assertTrue((x == before).all())

    def test_threads_of_python(self):
        x = normal((64, 513), np.float16, 14)
        expected = assay.softmax(x)
        wrong = []

        def work():
            for _ in range(50):
                if not (assay.softmax(x) == expected).all():
                    wrong.append(1)

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(wrong, [])


class Foreign:
    """An array that says what it is through DLPack alone."""

    def __init__(self, array):
        self.array = array
        self.shape = array.shape

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class DLPack(unittest.TestCase):
    def test_strided_values(self):
        x = normal((6, 10), np.float32, 15)
        out = np.empty((10, 6), np.float32)
        assay.softmax(Foreign(x.T), out=out)
        self.assertTrue((out == assay.softmax(x.T)).all())

    def test_out_is_needed(self):
        with self.assertRaisesRegex(TypeError, "out is needed: .* test_numpy array"):
            assay.softmax(Foreign(normal((2, 3), np.float32, 16)))


class Errors(unittest.TestCase):
    x = normal((4, 9), np.float32, 17)

    def rejects(self, error, words, function, *arguments, **options):
        with self.assertRaisesRegex(error, words) as caught:
            function(*arguments, **options)
        return caught.exception

    def test_kinds_of_errors(self):
        x = self.x
        self.rejects(assay.BadShape, "x has rank 1", assay.softmax, x[0])
        self.rejects(assay.BadDtype, "x is int32", assay.softmax, x.astype(np.int32))
        self.rejects(assay.BadDtype, "x is >f4", assay.softmax, x.astype(">f4"))
        self.rejects(assay.BadDtype, "y is fp16 and x is fp32", assay.softmax, x, out=np.empty((4, 9), np.float16))
        self.rejects(assay.BadStride, "row stride of x is -9", assay.softmax, x[::-1])
        self.rejects(assay.BadStride, "contiguous", assay.softmax, x, out=np.empty((9, 4), np.float32).T)
        self.rejects(assay.BadAlias, "y overlaps x", assay.softmax, x, out=x)
        self.rejects(assay.BadOption, "warps is 3", assay.softmax, x, warps=3)
        self.rejects(assay.Unavailable, "no variant named 'no'", assay.softmax, x, variant="no")
        self.rejects(assay.BadShape, "rank 5", assay.softmax, np.zeros((1, 1, 1, 1, 1), np.float32))
        self.rejects(TypeError, "x is a list", assay.softmax, [[1.0]])

    def test_they_are_python_errors_too(self):
        self.assertIsInstance(self.rejects(ValueError, "", assay.softmax, self.x[0]), assay.AssayError)
        self.assertIsInstance(self.rejects(TypeError, "", assay.softmax, self.x.astype(np.int8)), assay.AssayError)
        self.assertEqual(self.rejects(assay.BadShape, "", assay.softmax, self.x[0]).status, "BAD_SHAPE")

    def test_read_only_out(self):
        out = np.empty((4, 9), np.float32)
        out.flags.writeable = False
        self.rejects(assay.BadPointer, "out is read-only", assay.softmax, self.x, out=out)

    def test_fields_of_a_structured_array(self):
        field = np.zeros((4, 3), np.dtype([("pad", "u1"), ("value", "<f4")]))["value"]
        self.rejects(assay.BadStride, r"strides of \(15, 5\) bytes", assay.softmax, field)

    def test_a_forced_variant_that_runs(self):
        self.assertTrue(np.isfinite(assay.softmax(self.x, variant="plain")).all())


if __name__ == "__main__":
    unittest.main()
