# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# A plug-in outside the tree: examples/plugin-template against an installed fp4oracle, with two lines of CMake.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
command -v cmake >/dev/null || { echo "cmake is not there"; exit 77; }

cmake --install "$(dirname "$(dirname "$FP4ORACLE")")" --prefix "$work/prefix" >install.log 2>&1 || { cat install.log; fail install; finish; }
installed=$work/prefix/bin/fp4oracle
unset FPO_PLUGINS
FP4ORACLE=$installed run 0 gen --data uniform --shape 130x40x96 --format nvfp4 --alpha 0.3 --model fma_f32 -o v.safetensors

# The installed program finds the installed plug-ins.
FP4ORACLE=$installed run 0 run --kernel cpu_reference:cpu/nvfp4 v.safetensors; out "^plug-in  cpu_reference .*$work/prefix/lib"

cp -r "$FPO_SOURCE_DIR/examples/plugin-template" mine
build() {
    cmake -S mine -B mine/build -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_FLAGS='-Wall -Wextra -Werror' >build.log 2>&1 &&
        cmake --build mine/build >>build.log 2>&1 || { cat build.log; fail "the template does not build"; finish; }
}
build
FP4ORACLE=$installed run 0 run --kernel ./mine/build/my_kernels.so v.safetensors
out '^plug-in  my_kernels 1.0'; out '^match  *v.safetensors  130x40x96  all bits as fma_f32 (defined), golden; 12 launches'
exported=$(nm -D --defined-only mine/build/my_kernels.so | awk '$2 ~ /[TDBRVW]/ {print $3}')
[ "$exported" = fpo_plugin_v1 ] || fail "the template exports: $exported"

# A mistake in it is named.
sed -i 's/k % 2 != 0 ? 4 : 0/k % 2 != 0 ? 0 : 4/' mine/my_kernels.c
build
FP4ORACLE=$installed run 1 run --kernel ./mine/build/my_kernels.so v.safetensors; out 'cause  *the two 4-bit codes in each byte of A and B'

# It compiles as C++, too: most kernels are.
printf '#include <fp4oracle/kernel_plugin.h>\nextern "C" const fpo_plugin *fpo_plugin_v1(uint32_t) { return nullptr; }\n' >one.cpp
c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I prefix/include -fsyntax-only one.cpp || fail "the header as C++"

finish
