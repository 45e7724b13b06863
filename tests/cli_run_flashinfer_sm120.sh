# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# FlashInfer's kernels for SM120, with their own host code, on the virtual one.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
. "$FPO_SOURCE_DIR/tests/cli/sm120_matrix.sh" || exit 1
needs flashinfer_sm120 flashinfer-python

all_data 4 nvfp4 sm120_mxf4nvf4 sm120_mxf4nvf4_f25 mxf4nvf4 136x264x96 0.3
all_data 2 mxfp8_e4m3 sm120_mxf8f6f4 sm120_mxf8f6f4_v1 mxf8f6f4 136x264x96 1
all_data 2 fp8_1x128,fp8_128x128 sm120_fp8_blockwise sm90_fp8_blockwise f8f6f4 136x256x128 1
matrix_done
