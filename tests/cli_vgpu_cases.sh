# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# Small kernels through the stand-in driver: what they write follows from formulas, for each seed and number of SMs.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1

folder=$FPO_SOURCE_DIR/tests/vgpu/cases
for configuration in capability=90 capability=90,seed=1,sms=1 capability=90,seed=7,sms=16 capability=90,seed=3,check=1; do
    run 0 vgpu -c "$configuration" -- "$FPO_GPU_CASES" "$folder"
    out '^cluster: 30 comparisons, 0 differ'
    out '^wgmma: 1 comparisons, 0 differ'
    out '^runtime: [0-9]* comparisons, 0 differ'
    not_out 'is not installed'
    out '^reduce: 112 comparisons, 0 differ'
    out '^tensormap: [0-9]* comparisons, 0 differ'
done
# Functions that are not there say so when they are called, and so do swizzles that are not.
cat >missing.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    int (*begin)(void *, int);
    *(void **)&begin = dlsym(dlopen("libcudart.so.13", RTLD_NOW), "cudaStreamBeginCapture");
    int (*encode)(void *, int, unsigned, void *, const unsigned long long *, const unsigned long long *, const unsigned *,
                  const unsigned *, int, int, int, int);
    *(void **)&encode = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuTensorMapEncodeTiled");
    static _Alignas(64) char map[128], memory[4096];
    printf("%d\n", begin(NULL, 0));
    printf("atoms %d\n", encode(map, 7, 2, memory, (unsigned long long[]){32, 32}, (unsigned long long[]){128},
                               (unsigned[]){32, 16}, (unsigned[]){1, 1}, 0, 4, 0, 0));
    return 0;
}
END
if cc missing.c -o missing -ldl; then
    # The program is not sanitised; the stand-in may be.
    ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 run 0 vgpu -c capability=100 -- ./missing
    out '^801$'; err 'cudaStreamBeginCapture is not a function of the virtual GPU'
    out '^atoms 801$'; err 'cuTensorMapEncodeTiled: swizzle 4, 128 bytes with atoms of 32 or 64, is not modelled'
fi
finish
