# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle vgpu: a program that uses libcuda runs on the virtual GPU; wrong configurations are refused.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1

run 0 vgpu --instructions; out '^### integer'; out 'add\.{s16,u16,s32,u32,s64,u64}'; out 'rsqrt.approx.*f32'
run 0 vgpu --folder
folder=$("$FP4ORACLE" vgpu --folder)
[ -e "$folder/libcuda.so.1" ] || fail "no libcuda.so.1 in $folder"
run 2 vgpu -c capability=80,wings=2 -- true; err 'wings=2 is not understood'
run 2 vgpu -c mxf4nvf4=nonsense -- true; err 'no model of an instruction is called nonsense'
run 2 vgpu -- /nonexistent/program; err '/nonexistent/program'
run 3 vgpu -- sh -c 'exit 3'
run 0 vgpu -c seed=5 -- sh -c 'echo "$FP4ORACLE_VGPU"; ls "${LD_LIBRARY_PATH%%:*}"'; out 'seed=5'; out 'libcudart.so.13'
finish
