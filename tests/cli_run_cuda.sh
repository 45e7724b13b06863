# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# CUDA kernels that misbehave, each in one way, and a user's own CUDA kernel: on the virtual GPU here, and on a GPU with
# FPO_TEST_DEVICE=gpu:0. They are built where nvcc is.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
plugin=$FPO_PLUGINS/test_plugins/misbehave_gpu.so mine=$FPO_PLUGINS/test_plugins/my_cuda_kernels.so
device=${FPO_TEST_DEVICE:-virtual:sm90}
[ -e "$plugin" ] && [ -e "$mine" ] || { echo "no nvcc: the CUDA plug-ins are not built"; exit 77; }

# examples/cuda-plugin: right, and under 100 lines.
run 0 gen --data uniform --shape 33x24x96 --format nvfp4 --alpha 0.3 --model fma_f32 -o vector.safetensors
run 0 run --kernel "$mine" --device "$device" vector.safetensors
out '^match  *vector.safetensors  33x24x96  all bits as fma_f32'
[ "$(wc -l <"$FPO_SOURCE_DIR/examples/cuda-plugin/my_kernels.cu")" -lt 100 ] || fail "the example has 100 lines or more"

# Each is reported as what it is. A virtual GPU's CTAs that write the same words do so on the host's threads, where a race can come
# out any way, and right, too. On one thread it comes out as the seed has it, each time: K in two parts, so other sums.
case $device in
virtual:*) device=$device,threads=1 races=mismatch ;;
*) races=nondeterministic ;;
esac
run 0 gen --format nvfp4 --data gaussian --shape 20x36x64 --alpha 0.3 --model fma_f32 -o v.safetensors
run 3 run --kernel "$plugin:gpu/*" --device "$device" --no-diagnosis --time-limit 3 --json v.safetensors
outcome() { json ".results[] | select(.kernel == \"gpu/$1\") | .outcome" "$2"; }
outcome behaves match
outcome traps device_lost
outcome faults device_lost
outcome misaligns device_lost
outcome hangs timed_out
outcome cannot_start failed
outcome misses_tile never_written
outcome writes_outside out_of_bounds
outcome races $races
race adds_in_any_order
outcome wrong_scale mismatch
outcome swaps_nibbles mismatch
json '.results | length' 13
json '.results[] | select(.kernel == "gpu/misses_tile") | .text' \
    '16 of 720 elements were never written, within rows 16-19, columns 32-35'

# Where the data are wrong, why.
run 1 run --kernel "$plugin:gpu/wrong_scale" --device "$device" --once v.safetensors
out 'cause  *the block scales of B are read as one per 32 elements of K, not 16'

finish
