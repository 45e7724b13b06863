# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# tools/fetch_packages and tools/compile_cuda, without the network and without nvcc.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
fetch=$FPO_SOURCE_DIR/tools/fetch_packages compile=$FPO_SOURCE_DIR/tools/compile_cuda
export XDG_CACHE_HOME=$work/cache TMPDIR=$work # its own cache, its own lock

# Every pin has a version and a hash: pip refuses what differs.
pins=$(grep -c '^[^#]' "$FPO_SOURCE_DIR/tools/packages.txt")
[ "$("$fetch" --list | wc -l)" = "$pins" ] || fail "--list does not show $pins packages"
[ "$(grep -cE '^[a-z0-9-]+==[0-9.]+( --hash=sha256:[0-9a-f]{64})+$' "$FPO_SOURCE_DIR/tools/packages.txt")" = "$pins" ] ||
    fail "a pin without a version or a hash"
"$fetch" --cached nvidia-cutlass >out 2>err; [ $? = 77 ] || fail "--cached of what is not there"
"$fetch" no-such-package >out 2>err; [ $? = 2 ] || fail "a package that is not pinned"
err "has no 'no-such-package'"
"$fetch" >out 2>err; [ $? = 2 ] || fail "no argument"
absent cache/fp4oracle/packages
mkdir -p cache/fp4oracle/packages/nvidia-cutlass-4.2.0.0
"$fetch" --cached nvidia-cutlass >out || fail "--cached of what is there"; out '/nvidia-cutlass-4.2.0.0$'

# A compiler that counts: the second time, and for equal content, the object comes from the cache.
mkdir tool; cat >tool/nvcc <<'EOF'
#!/bin/sh
[ "$1" = --version ] && { echo "release 13.0, V13.0.88"; exit; }
echo run >>"$(dirname "$0")/runs"; [ "$1 $2" = "-c -o" ] && echo object >"$3"
EOF
chmod +x tool/nvcc; export NVCC=$work/tool/nvcc
printf '#include "kernel.h"\n#include <vector>\n__global__ void f() {}\n' >kernel.cu
echo '#include "deep.inc"' >kernel.h; echo '#define N 1' >deep.inc
runs() { [ "$(cat tool/runs 2>/dev/null | wc -l)" = "$1" ] || fail "nvcc ran $(wc -l <tool/runs) times, not $1: $2"; }
"$compile" --cached - kernel.cu -O3; [ $? = 77 ] || fail "--cached of a kernel never compiled"
runs 0 "with --cached"
"$compile" a.o kernel.cu -O3 && "$compile" b.o kernel.cu -O3; runs 1 "the same twice"
cmp -s a.o b.o || fail "the object from the cache is another one"
"$compile" --cached - kernel.cu -O3 || fail "--cached of a kernel that is there"
"$compile" c.o kernel.cu -O2; runs 2 "other flags"
echo '#define N 2' >deep.inc; "$compile" d.o kernel.cu -O3; runs 3 "another header"
echo '#define N 1' >other.h; "$compile" d.o kernel.cu -O3; runs 3 "a header that it does not include"
"$compile" --files kernel.cu >out; [ "$(xargs -n 1 basename <out | tr '\n' ' ')" = "kernel.cu kernel.h deep.inc " ] || fail "--files"
echo '// more' >>kernel.cu; "$compile" --small e.o kernel.cu -O3; runs 4 "another source"
printf '#!/bin/sh\n[ "$1" = --version ] || exit 1\n' >tool/nvcc
"$compile" f.o kernel.cu -O3 2>err && fail "a compiler that fails"
absent f.o

finish
