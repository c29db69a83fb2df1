# SPDX-License-Identifier: MIT
"""Times the operators beside NumPy, PyTorch and Triton, by the protocol, gate and report of `assay bench`.

    python -m assay.bench strided_softmax --quick -o r.json

One process holds both sides: assay's variants and their peers work on the same arrays, in shuffled order. `assay
verify`, `compare`, `record` and `plot` take the reports. Start reading at `__main__.py`; `python -m assay.bench --help`
has the options.
"""
