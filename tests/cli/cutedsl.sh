# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# FlashInfer and the CuTe DSL from their pinned packages, if those have been fetched: $flashinfer, and dsl, one folder of
# links as pip would unpack them.
dsl="nvidia-cutlass-dsl nvidia-cutlass-dsl-libs-base nvidia-cutlass-dsl-libs-core nvidia-cutlass-dsl-libs-cu12 cuda-bindings cuda-pathfinder protobuf typing-extensions"
# shellcheck disable=SC2086
"$FPO_SOURCE_DIR/tools/fetch_packages" --cached flashinfer-python $dsl >packages 2>&1 ||
    skip "the CuTe DSL is not there (tools/fetch_packages flashinfer-python $dsl)"
[ "$(python3 -c 'import sys, platform; print(sys.version_info[:2] == (3, 11), platform.machine())')" = "True x86_64" ] ||
    skip "the pinned CuTe DSL is for CPython 3.11 on x86-64"
flashinfer=$(head -n 1 packages)
mkdir dsl
tail -n +2 packages | while read -r folder; do cp -asn "$folder/." dsl/; done
# Python is not sanitised; the stand-in for libcuda may be.
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
