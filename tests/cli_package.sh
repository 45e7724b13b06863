# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# The installed library from another project: find_package under each of its names, pkg-config, and nothing but the API
# is exported.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
command -v cmake >/dev/null || { echo "cmake is not there"; exit 77; }

prefix=$work/prefix
cmake --install "$(dirname "$(dirname "$FP4ORACLE")")" --prefix "$prefix" >install.log 2>&1 || { cat install.log; fail install; finish; }
version=$("$FP4ORACLE" --version | sed 's/^fp4oracle //')

mkdir user
cat >user/main.c <<'END'
#include <fp4oracle/fp4oracle.h>
#include <stdio.h>
int main(void)
{
    return puts(fpo_version()) < 0;
}
END
cat >user/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(fp4oracle REQUIRED)
foreach(kind fp4oracle shared static)
  add_executable(${kind} main.c)
  target_link_libraries(${kind} PRIVATE fp4oracle::${kind})
endforeach()
END
cmake -S user -B user/build -DCMAKE_PREFIX_PATH="$prefix" >build.log 2>&1 && cmake --build user/build >>build.log 2>&1 ||
    { cat build.log; fail "find_package(fp4oracle)"; finish; }
for kind in fp4oracle shared static; do
    got=$("user/build/$kind")
    [ "$got" = "$version" ] || fail "linked with fp4oracle::$kind: version '$got', not '$version'"
done

library=$(find "$prefix" -name 'libfp4oracle.so.*.*.*')
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" {print $3}' | grep -v '^fpo_')
[ -z "$exported" ] || fail "libfp4oracle.so exports: $exported"

if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name fp4oracle.pc)")
    cc -std=c11 user/main.c $(pkg-config --cflags --libs fp4oracle) -Wl,-rpath,"$(dirname "$library")" -o packaged ||
        fail "pkg-config"
    [ "$(./packaged)" = "$version" ] || fail "linked by pkg-config: version '$(./packaged)', not '$version'"
fi

finish
