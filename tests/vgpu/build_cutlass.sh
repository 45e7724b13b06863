#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
#
# build_cutlass.sh CASE [SOURCE]: compiles tests/vgpu/SOURCE.cu (cutlass_sm120) to PTX with its host code and prints the path
# of the shared object. Results are kept by content hash in ~/.cache/fp4oracle. Exit status 77: nvcc or the CUTLASS package
# is missing and nothing is in the cache (FPO_BUILD_KERNELS=1 fetches nvidia-cutlass from PyPI and compiles: 80 s, 5 GB of
# memory).
set -euo pipefail
case=$1 source=${2:-cutlass_sm120}
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/fp4oracle
cutlass_version=$("$here/../../tools/fetch_packages" --list | sed -n 's/^nvidia-cutlass //p')
flags=(-std=c++17 -O3 --expt-relaxed-constexpr -DNDEBUG "-DCASE=$case" -gencode arch=compute_120a,code=compute_120a
       -cudart shared -Xcompiler -fPIC -shared)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
version=$([ -x "$nvcc" ] && "$nvcc" --version | sed -n 's/.*V\([0-9.]*\)$/\1/p' || echo none)
mkdir -p "$cache"
hash=$( (cat "$here/$source.cu"; echo "${flags[*]} cutlass $cutlass_version") | sha256sum | cut -c1-16)
out=$cache/${source}_$case.$hash.so
if [ ! -e "$out" ]; then
  [ "${FPO_BUILD_KERNELS-0}" = 1 ] && [ "$version" != none ] || exit 77
  package=$("$here/../../tools/fetch_packages" nvidia-cutlass)
  cutlass=$package/cutlass_library/source
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  flock /tmp/nvcc.lock "$nvcc" "${flags[@]}" -I "$cutlass/include" -I "$cutlass/tools/util/include" \
    "$here/$source.cu" -o "$work/out.so" >&2
  mv "$work/out.so" "$out"
fi
echo "$out"
