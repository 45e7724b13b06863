#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
# usage: record_stream_k.sh OUT    needs python3 with pip, g++, the CUDA Toolkit's headers; no GPU, no nvcc
# Builds CUTLASS' scheduler (nvidia-cutlass 4.2.0.0 from PyPI) for the CPU and records its decisions.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
python3 -m pip download -q --no-deps -d "$work" nvidia-cutlass==4.2.0.0
python3 -m zipfile -e "$work"/nvidia_cutlass-*.whl "$work/cutlass"
# What device code needs to be parsed by a C++ compiler; nothing of it runs.
cat > "$work/device.h" <<'END'
#include <cuda_runtime.h>
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static inline void __syncthreads() {}
static inline void __syncwarp(unsigned = 0) {}
static inline void __threadfence() {}
template <class T> T atomicAdd(T *p, T v) { T old = *p; *p += v; return old; }
template <class T> T atomicCAS(T *p, T, T) { return *p; }
END
cuda=${CUDA_HOME:-/usr/local/cuda}/include
nice g++ -std=c++17 -O1 -w -fpermissive -I "$work/cutlass/cutlass_library/source/include" -I "$cuda" -I "$cuda/cccl" \
  -include "$work/device.h" "$here/record_stream_k.cpp" -o "$work/record" -L "$cuda/../lib64" -lcudart
"$work/record" > "$1"
