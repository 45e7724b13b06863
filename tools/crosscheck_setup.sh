#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
# usage: crosscheck_setup.sh VENV    needs python3 >= 3.10, gcc, readelf; no CUDA
# A virtual environment with mmasim and mmaemu, pinned. Both want torch: its wheel is taken without the CUDA libraries that
# it links (1.3 GB instead of 4), which crosscheck_stubs.py replaces by empty ones.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python3 -m venv "$1"
"$1/bin/pip" install -q --no-deps --no-compile --no-cache-dir torch==2.15.0 mmasim==2.1.1 mmaemu==0.1.0 numpy==2.4.6 \
  filelock==4.3.1 typing-extensions==4.16.0 sympy==1.14.0 mpmath==1.3.0 networkx==3.6.1 jinja2==3.1.6 MarkupSafe==3.0.4 \
  fsspec==2026.9.0 setuptools==80.9.0
"$1/bin/python" "$here/crosscheck_stubs.py"
"$1/bin/python" -c 'import torch, mmaemu, mmasim.nv_ptx; print("torch", torch.__version__, "mmaemu", mmaemu.__version__)'
