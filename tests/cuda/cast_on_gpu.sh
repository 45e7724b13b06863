#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
#
# Builds tests/cuda/cast_on_gpu.cu for this machine's GPU, or for ARCH (90, 100a, 120a), and runs it. BUILD_ONLY=1 stops
# before that. Needs nvcc and gcc alone.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
arch=${ARCH:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)}
case $arch in 100 | 103 | 120 | 121) arch=${arch}a ;; esac
case $arch in *a) fp4=1 ;; *) fp4=0 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for unit in format value cast casts; do
    gcc -std=c11 -O2 -ffp-contract=off -I"$root/include" -c "$root/emu/$unit.c" -o "$work/$unit.o"
done
nvcc -std=c++17 -O2 -gencode "arch=compute_$arch,code=sm_$arch" -DFPO_TARGET="${arch%a}" -DFPO_TARGET_FP4=$fp4 \
    -I"$root/include" "$root/tests/cuda/cast_on_gpu.cu" "$work"/*.o -o "$work/cast_on_gpu"
[ -n "${BUILD_ONLY-}" ] || "$work/cast_on_gpu"
