# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle run --device virtual:...: a plug-in's own host code and PTX on the virtual GPU, without CUDA.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
ptx=$FPO_PLUGINS/test_plugins/ptx_gemm.so

run 0 gen --data gaussian --shape 9x21x40 --format f32 --model fma_f32 -o f32.safetensors
run 0 run --kernel "$ptx:ptx/right" --device virtual:sm120 f32.safetensors
out '^device   virtual:sm120: fp4oracle VIRTUAL SM120, compute capability 12.0, '; out 'computes with a VIRTUAL SM120'
out '^match  *f32.safetensors  9x21x40  all bits as fma_f32'
run 0 run --kernel "$ptx:ptx/right" --device virtual:sm90,seed=7,sms=2 --json f32.safetensors
json .device.kind virtual; json .device.device virtual:sm90; json .device.compute_capability 9.0; json .device.multiprocessors 2
json '.results[0].outcome' match; json '.results[0].reproduce | test("--device virtual:sm90,seed=7,sms=2 f32")' true

# A write beyond a row lands in the guards; one that hits no allocation is located in the PTX, and the run goes on.
run 1 run --kernel "$ptx:ptx/too_wide" --device virtual:sm120 f32.safetensors; out '^out_of_bounds .*beyond the end of D'
run 3 run --kernel "$ptx:ptx/*" --device virtual:sm120 f32.safetensors
# shellcheck disable=SC2016 # backticks of a message
out '^device_lost  .*PTX line [0-9]*, CTA (0,0,0), warp 0, lane 0, `st.global.f32`: global memory at .* is not allocated'
out '^match '; out '^out_of_bounds '

# Host code that keeps the reason for itself: the virtual GPU has it.
run 3 run --kernel "$ptx:ptx/unknown" --device virtual:sm120 f32.safetensors
out 'initialize: Error Internal.*; the virtual GPU: .*line [0-9].*frobnicate'

run 0 list devices; out '^ *virtual:sm120  *any CUDA .*12.0 .*yes .*lib/vgpu'

# What is no virtual GPU.
run 2 run --kernel "$ptx:ptx/right" --device virtual:sm80 f32.safetensors; err "no virtual GPU 'sm80'"
run 2 run --kernel "$ptx:ptx/right" --device virtual:sm120,sed=7 f32.safetensors; err 'sed=7 is not understood'
run 2 run --kernel cpu_reference --device virtual:sm120 f32.safetensors; err 'work in host memory'

finish
