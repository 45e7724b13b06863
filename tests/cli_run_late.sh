# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# cp.async and wgmma complete late under a seed: Triton's pipelined FP8 GEMMs (examples/triton/fp8_gemm.py) have all bits
# under five seeds, and without one of their waits they lose them.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
run 0 gen --format e4m3 --data uniform --shape 64x128x1024 --model exact -o v.safetensors
for sm in sm90 sm120; do
    cp "$FPO_SOURCE_DIR/tests/data/triton/${sm}_fp8.json" . && zstd -dqf "$FPO_SOURCE_DIR/tests/data/triton/${sm}_fp8.ptx.zst" -o ${sm}_fp8.ptx
    for seed in 0 1 2 3 4 5; do
        run 0 run --kernel ./${sm}_fp8.json --device virtual:$sm,seed=$seed,check=1 --once v.safetensors; out '^1 matched, 0 diverged'
    done
done

# without SM PATTERN: the kernel without those waits. Without a seed everything is early, and its bits are right.
without() {
    sed "/$2/d" "$1_fp8.ptx" >fault.ptx
    ! cmp -s fault.ptx "$1_fp8.ptx" || fail "no $2 in $1_fp8.ptx"
    jq '.module = "fault.ptx"' "$1_fp8.json" >fault.json
    run 0 run --kernel ./fault.json --device "virtual:$1" --once v.safetensors; out '^match '
    run 1 run --kernel ./fault.json --device "virtual:$1,seed=1" --once --no-diagnosis v.safetensors; out '^mismatch '
}
without sm90 'cp.async.wait_group.*2;'
# The checks need no seed for what a wait covers.
checked() {
    run 1 run --kernel ./fault.json --device "virtual:$1,check=1" --once --no-diagnosis v.safetensors; out "^check_failed .*$2"
}
without sm90 'wgmma.wait_group.*1;'
checked sm90 'cp.async.* writes shared memory, with no ordering after an access of a wgmma of warpgroup 0 that no wait covers'
without sm90 'wgmma.wait_group.*0;'
checked sm90 'st.shared.* uses a register before a wgmma.wait_group covers the wgmma that writes it (register 0 of D'
without sm120 'cp.async.wait_group.*2;'
checked sm120 'ldmatrix.* uses shared memory that a cp.async writes, without a wait for its group'
finish
