# SPDX-License-Identifier: MIT
"""Builds the wheel of assay-kernels: the Python files, and libassay.so.0 made by the Makefile of the tree above.

A backend of the PEP 517 kind, on the standard library alone. Where there is no source tree above (an unpacked sdist),
the wheel has no library of its own, and the package takes the one that is installed on the system.
"""

import base64
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sysconfig
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent.parent
TREE = HERE.parent
LIBRARY = "build/libassay.so.0"


def _version():
    header = TREE / "include" / "assay" / "assay.h"
    kept = HERE / "VERSION"  # in an sdist
    if not header.exists():
        return kept.read_text().strip()
    found = dict(re.findall(r"#define ASSAY_VERSION_(MAJOR|MINOR|PATCH) (\d+)", header.read_text()))
    return f"{found['MAJOR']}.{found['MINOR']}.{found['PATCH']}"


def _project():
    """The fields of pyproject.toml that go into the metadata. tomllib came with Python 3.11, and this is for 3.10."""
    text = (HERE / "pyproject.toml").read_text()
    return {
        key: re.search(rf'^{key} = "(.*)"$', text, re.MULTILINE)[1] for key in ("name", "description", "license")
    } | {
        "requires-python": re.search(r'^requires-python = "(.*)"$', text, re.MULTILINE)[1],
        "dependencies": re.findall(r'"([^"]+)"', re.search(r"^dependencies = \[(.*)\]$", text, re.MULTILINE)[1]),
    }


def _metadata():
    project = _project()
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {_version()}",
        f"Summary: {project['description']}",
        f"License: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {name}" for name in project["dependencies"]),
        "Description-Content-Type: text/markdown",
        "",
        (HERE / "README.md").read_text(),
    ]
    return "\n".join(lines)


def _library():
    """The path of a library that is up to date, or None where there is no tree to build it from."""
    if not (TREE / "Makefile").exists():
        return None
    jobs = os.cpu_count() or 1
    subprocess.run(["make", f"-j{jobs}", "BUILD=build", LIBRARY], cwd=TREE, check=True)
    return TREE / LIBRARY


def _modules():
    """The files of the package: Python, and the shapes that assay.bench times."""
    return sorted(path for kind in ("*.py", "*.json") for path in (HERE / "assay").rglob(kind))


def _sources():
    """SHA-256 of what is timed by assay.bench: an installed package has no tree to look it up in."""
    operators = json.loads((HERE / "assay" / "bench" / "suite.json").read_text())["operators"]
    named = {source for operator in operators for variant in operator["variants"] for source in variant["sources"]}
    named |= {f"python/{path.relative_to(HERE)}" for path in _modules() if path.suffix == ".py"}
    there = {path: HERE / path.removeprefix("python/") if path.startswith("python/") else TREE / path for path in named}
    return {
        path: hashlib.sha256(file.read_bytes()).hexdigest() for path, file in sorted(there.items()) if file.exists()
    }


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    library = _library()
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform()) if library else "any"
    tag = f"py3-none-{platform}"
    stem = f"assay_kernels-{_version()}"
    info = f"{stem}.dist-info"
    files = {str(path.relative_to(HERE)): path.read_bytes() for path in _modules()}
    files["assay/bench/sources.json"] = json.dumps(_sources(), indent=1).encode()
    if library:
        files["assay/libassay.so.0"] = library.read_bytes()
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: assay_build\nRoot-Is-Purelib: {'false' if library else 'true'}\nTag: {tag}\n"
    ).encode()
    record = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(content)}")
    record.append(f"{info}/RECORD,,")
    files[f"{info}/RECORD"] = ("\n".join(record) + "\n").encode()
    name = f"{stem}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
    return name


def build_sdist(sdist_directory, config_settings=None):
    stem = f"assay_kernels-{_version()}"
    name = f"{stem}.tar.gz"
    files = {"PKG-INFO": _metadata().encode(), "VERSION": (_version() + "\n").encode()}
    for path in [HERE / "pyproject.toml", HERE / "README.md", HERE / "backend" / "assay_build.py", *_modules()]:
        files[str(path.relative_to(HERE))] = path.read_bytes()
    with tarfile.open(pathlib.Path(sdist_directory) / name, "w:gz") as sdist:
        for path, content in files.items():
            member = tarfile.TarInfo(f"{stem}/{path}")
            member.size = len(content)
            sdist.addfile(member, io.BytesIO(content))
    return name
