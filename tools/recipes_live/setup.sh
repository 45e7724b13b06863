#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
# usage: setup.sh VENV    needs python3 >= 3.10, gcc, readelf, git and PyPI; no CUDA. 3 GB, five minutes.
# An environment in which the libraries' quantisers run on a CPU. vLLM and fouroversix are not installed, only unpacked
# beside it (VENV/source): their packages want a GPU to be imported. microxcaling is no package: give recipes_live.py a
# check-out of github.com/microsoft/microxcaling at 7bc4195.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bash "$here/../crosscheck_setup.sh" "$1"
"$1/bin/pip" install -q --no-deps --no-compile --no-cache-dir -r "$here/requirements.txt"
mkdir -p "$1/source"
cd "$1/source"
"$1/bin/pip" download -q --no-deps vllm==0.33.0
"$1/bin/python" - <<'PYTHON'
import glob, zipfile
wheel = zipfile.ZipFile(glob.glob("vllm-*.whl")[0])
wheel.extractall(".", [name for name in wheel.namelist() if name.endswith(".py")])
PYTHON
rm vllm-*.whl
"$1/bin/pip" download -q --no-deps --no-build-isolation --no-binary fouroversix fouroversix==1.0.5
tar xzf fouroversix-1.0.5.tar.gz
