# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# CUTLASS's, FlashInfer's, DeepGEMM's and Triton's kernels for SM100, unmodified, on the virtual one.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
. "$FPO_SOURCE_DIR/tests/cli/sm100_matrix.sh" || exit 1
# Triton's are PTX of the repository, compressed; the plug-in `module` launches them.
unpack() {
    [ -e "$FPO_PLUGINS/module.so" ] && command -v zstd >/dev/null || return 1
    for format in nvfp4 mxfp4 mxfp8; do
        zstd -dqf "$FPO_SOURCE_DIR/tests/data/triton/sm100_$format.ptx.zst" -o $format.ptx 2>/dev/null &&
            cp "$FPO_SOURCE_DIR/tests/data/triton/sm100_$format.json" $format.json || return 1
    done
}
unpack || { rm -f ./*.json; echo "left out: Triton's kernels (no zstd, no tests/data/triton, or no plug-in module)"; }

kernels_of nvfp4 sm100_mxf4nvf4 sm100_mxf4nvf4_f34 tcgen05_mxf4nvf4 step 136x136x288 0.3 cutlass_sm100=6 flashinfer_sm100=2
kernels_of nvfp4 sm100_mxf4nvf4 sm100_mxf4nvf4_f34 tcgen05_mxf4nvf4 step 136x136x256 0.3 ./nvfp4.json=1
kernels_of mxfp4 sm100_mxf4 sm100_mxf4nvf4_f34 tcgen05_mxf4 cancellation 136x136x512 0.3 cutlass_sm100=1 ./mxfp4.json=1
kernels_of mxfp4 sm100_mxf4 sm100_mxf4nvf4_f34 tcgen05_mxf4 cancellation 136x136x512 1 deepgemm_sm100=4
kernels_of mxfp8_e4m3 sm100_mxf8f6f4 sm120_mxf8f6f4_v1 tcgen05_mxf8f6f4 floor 136x136x512 0.3 cutlass_sm100=2 ./mxfp8.json=1
kernels_of mxfp8_e4m3 sm100_mxf8f6f4 sm120_mxf8f6f4_v1 tcgen05_mxf8f6f4 floor 136x136x512 1 deepgemm_sm100=1
kernels_of fp8_ue8m0_1x128 sm100_mxf8f6f4 sm120_mxf8f6f4_v1 tcgen05_mxf8f6f4 floor 136x136x1024 1 deepgemm_sm100=9
kernels_of fp8_128x128 sm100_fp8_blockwise sm90_fp8_blockwise tcgen05_f8f6f4 gaussian 139x136x272 0.3 cutlass_sm100=1
kernels_of fp8_1x128,fp8_128x128 sm100_fp8_blockwise sm90_fp8_blockwise tcgen05_f8f6f4 gaussian 140x136x272 0.3 cutlass_sm100=2
kernels_of fp8_1x128,fp8_128x128 sm100_fp8_blockwise sm90_fp8_blockwise tcgen05_f8f6f4 gaussian 140x128x384 1 flashinfer_sm100=4
vector --data uniform --shape 132x136x272 --format fp8_1x128,fp8_128x128 --model sm100_fp8_blockwise
takers="flashinfer_sm100:*groupwise*=3" # the grouped one wants whole tiles of N and K
run_takers virtual:sm100,seed=5 --once

refused cutlass_sm100/nvfp4/f32 nvfp4 step sm100_mxf4nvf4 tcgen05_mxf4nvf4=sm100_mxf4nvf4_f34
refused cutlass_sm100/mxfp4/f32 mxfp4 cancellation sm100_mxf4 tcgen05_mxf4=sm100_mxf4nvf4_f34
refused cutlass_sm100/mxfp8/f32 mxfp8_e4m3 floor sm100_mxf8f6f4 tcgen05_mxf8f6f4=sm120_mxf8f6f4_v1
refused cutlass_sm100/fp8/1x128,128x128/f32 fp8_1x128,fp8_128x128 gaussian sm100_fp8_blockwise tcgen05_f8f6f4=sm90_fp8_blockwise

[ -n "$ran" ] || skip "no kernel for SM100 is there"
plugin="kernels for SM100"
matrix_done
