# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# CUTLASS's kernels for SM120, with their own host code, on the virtual one.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
. "$FPO_SOURCE_DIR/tests/cli/sm120_matrix.sh" || exit 1
needs cutlass_sm120 nvidia-cutlass

all_data 8 nvfp4 sm120_mxf4nvf4 sm120_mxf4nvf4_f25 mxf4nvf4 136x264x96 0.3
all_data 1 mxfp4 sm120_mxf4 sm120_mxf4nvf4_f25 mxf4 136x264x96 0.3
all_data 2 mxfp8_e4m3 sm120_mxf8f6f4 sm120_mxf8f6f4_v1 mxf8f6f4 136x264x96 0.3
all_data 2 mxfp8_e4m3,mxfp6_e3m2 sm120_mxf8f6f4 sm120_mxf8f6f4_v1 mxf8f6f4 136x264x128 0.3
all_data 1 mxfp8_e4m3,mxfp4 sm120_mxf8f6f4 sm120_mxf8f6f4_v1 mxf8f6f4 136x264x128 0.3
all_data 1 fp8_128x128 sm120_fp8_blockwise sm90_fp8_blockwise f8f6f4 256x128x256 0.3
all_data 2 fp8_1x128,fp8_128x128 sm120_fp8_blockwise sm90_fp8_blockwise f8f6f4 136x256x128 0.3

# beta * C; a shape that the kernel cannot do is said to be so.
vector --data uniform --shape 136x256x128 --alpha 0.3 --beta 0.7 --c-format f32 --format fp8_1x128,fp8_128x128 --model sm120_fp8_blockwise
matches 1 virtual:sm120 --once
vector --data uniform --shape 136x264x128 --format fp8_1x128,fp8_128x128 --model sm120_fp8_blockwise
mine && {
    make_vector
    run 2 run --kernel cutlass_sm120:cutlass/fp8/1x128,128x128/f32 --device virtual:sm120 v.safetensors
    out '^unsupported .*128'
}

# An NVFP4 output with its scales.
vector --data gaussian --shape 136x288x128 --format nvfp4 --d nvfp4 --model sm120_mxf4nvf4
matches 1 virtual:sm120

# What the virtual GPU knows of a load that failed reaches the user through CUTLASS's "Error Internal".
mine && {
    make_vector
    printf '.version 8.7\n.target sm_120a\n.address_size 64\n.visible .entry other() { ret; }\n' >other.ptx
    FP4ORACLE_VGPU_PTX=$PWD/other.ptx run 3 run --once --kernel cutlass_sm120:cutlass/nvfp4/nvfp4/pingpong --device virtual:sm120 v.safetensors
    out 'Error Internal; the virtual GPU: a kernel is launched that the PTX which was loaded does not have: _Z'
}

matrix_done
