#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Executes TransformerEngine's NVFP4 kernel with stochastic rounding, as it is compiled for sm_120, on the virtual GPU, and
compares every byte with the recipes te_nvfp4_stochastic, _both and _columns.

usage: fp4oracle vgpu -- python3 te_stochastic.py FP4ORACLE SOURCE PHILOX FOLDER [--first SEED] [--record] [--other]
       fp4oracle vgpu -c capability=100 -- python3 te_stochastic.py FP4ORACLE SOURCE PHILOX FOLDER --words

SOURCE is the unpacked source package of transformer-engine-torch 2.20.2 (see cuda_quantisers.py), PHILOX the file
transformer_engine/common/util/curanddx.hpp of TransformerEngine's repository, which that package lacks. nvcc compiles the
kernel's own text to PTX in FOLDER, a minute; what is there is taken again. --record: what came out, for tests/data/recipes.
--other: each recipe is compared with what another one is of, and must differ. --words: the kernel as it is compiled for
sm_100a, where cvt.rs rounds four numbers by one random word. Its result is replaced by a half of that word, so that the kernel
stores the words in place of the codes; they are compared with Philox's at the places that emu/recipe_random.c says. Exit status
1 if a byte differs."""
import argparse
import ctypes
import os
import pathlib
import random
import re
import struct
import sys

from cuda_quantisers import nvcc
from virtual_device import INF, NAN, Device, difference, mixed, ours, rounded, widened, write

SHAPES = ((128, 256), (160, 288), (32, 32), (96, 416))
RECORDED = (3, 4, 5, 6)  # of the cases: ordinary numbers and the others of each shape
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
TILE, BF16, U4 = 64, 9, 13  # of tensor maps: CU_TENSOR_MAP_DATA_TYPE_...
RECIPES = ("te_nvfp4_stochastic", "te_nvfp4_stochastic_both", "te_nvfp4_stochastic_columns")


def compile_kernel(options):
    name, capability = ("te_stochastic_sm100", "100a") if options.words else ("te_stochastic", "120a")
    ptx = pathlib.Path(options.folder) / f"{name}.ptx"
    if ptx.exists():
        return ptx.read_text()
    headers, folder = f"{options.source}/common_headers", pathlib.Path(options.folder)
    # Headers ask for others two and three folders up.
    for part in ("a/b/c", "a/util"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "a/util/curanddx.hpp").write_text(pathlib.Path(options.philox).read_text())
    return nvcc(options.folder, name, '#include "common/cast/nvfp4/specialized/quantize_transpose_nvfp4_tuned_1D.cuh"\n', f"compute_{capability}",
                ["-std=c++17", "-DNVTE_BUILD_NUM_PHILOX_ROUNDS=10", "-I", headers, "-I", f"{headers}/common", "-I", f"{headers}/common/include",
                 "-I", str(folder / "a/b"), "-I", str(folder / "a/b/c")])


class Kernel:
    def __init__(self, ptx):
        # Thread 0 invalidates the mbarriers on which other warps may still wait (docs/errata.md): the virtual GPU stops there.
        ptx = re.sub(r"mbarrier\.inval\b[^;]*;", "", ptx)
        self.device = Device()
        self.entries = [self.device.load(ptx, f"tuned_1D_kernelILb1ELb0ELb{both}ELb0E")[0] for both in (0, 1)]  # stochastic, not fast, both, not by rows

    def tensor_map(self, kind, address, rows, columns):
        room = ctypes.create_string_buffer(192)
        encoded = (ctypes.c_char * 128).from_buffer(room, -ctypes.addressof(room) % 64)
        self.device.call("cuTensorMapEncodeTiled", ctypes.byref(encoded), kind, 2, address, (ctypes.c_uint64 * 2)(columns, rows),
                         (ctypes.c_uint64 * 1)(columns * 2 if kind == BF16 else columns // 2), (ctypes.c_uint32 * 2)(TILE, TILE),
                         (ctypes.c_uint32 * 2)(1, 1), 0, 0, 0, 0)
        return encoded

    def run(self, both, x, rows, columns, amax, seed):
        """Codes and scales of the rows, then of the transposed copy where that is made."""
        count, size, null = rows * columns, ctypes.c_size_t, ctypes.c_uint64(0)
        states = struct.pack("<f", amax), struct.pack("<QQ", seed, 0)
        x, q, s, qt, st, a, state = addresses = [self.device.upload(d) for d in (x, *(2 * (b"\xA5" * (count // 2), b"\xA5" * (count // 16))), *states)]
        maps = self.tensor_map(BF16, x, rows, columns), self.tensor_map(U4, q, rows, columns), self.tensor_map(U4, qt, columns, rows)
        shared = 2 * TILE * TILE * 2 + (2 if both else 1) * (TILE * TILE + 128 * 8) + 128
        self.device.launch(self.entries[both], ((columns + 127) // 128, (rows + 127) // 128, 1), 128,
                           [*maps, s, st, null, a, a, size(rows), size(columns), size(columns // 16), size(rows // 16), state], shared)
        results = [self.device.download(address, n) for address, n in ((q, count // 2), (s, count // 16), (qt, count // 2), (st, count // 16))]
        self.device.free(*addresses)
        return results


def close_calls(source):
    """A block whose scale is a power of two where the amax is 2688, of numbers that are whole 256ths of a step from a code, and
    their neighbours."""
    scale, values = 2.0 ** source.randint(-8, 8), [6.0]
    while len(values) < 16:
        code = source.randrange(7)
        low, high = E2M1[code:code + 2]
        values.append(source.choice((1, -1)) * (low + (high - low) * source.randrange(257) / 256))
    return b"".join(rounded([v * scale], "bf16", source.choice((-1, 0, 1)) if i and v else 0) for i, v in enumerate(values))


def numbers(seed, rows, columns, special):
    """bf16: normal numbers, or all kinds."""
    source, count = random.Random(seed), rows * columns
    if not special:
        return rounded([source.gauss(0, 1) for _ in range(count)], "bf16")
    data = b"".join(mixed(seed + i, "bf16", 16) for i in range(count // 8192 + 1))
    blocks = [data[i:i + 32] for i in range(0, 2 * count, 32)]
    return b"".join(close_calls(source) if source.randrange(2) else block for block in blocks)


def transposed(x, rows, columns):
    return b"".join(x[2 * (r * columns + c):][:2] for c in range(columns) for r in range(rows))


def philox(seed, stream, index):
    counter, key = [index & 0xFFFFFFFF, index >> 32, stream & 0xFFFFFFFF, stream >> 32], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [b >> 32 ^ counter[1] ^ key[0], b & 0xFFFFFFFF, a >> 32 ^ counter[3] ^ key[1], a & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def words_of(seed, r, c, columns, draws, turned):
    """The words of 16 elements of a row from (r, c) on, or of a column."""
    chunk, tile = r // 128 * ((columns + 127) // 128) + c // 128, r % 128 // 64 * 2 + c % 128 // 64
    if turned:
        lane = c % 64 // 2
        return philox(seed, chunk * 128 + (r % 64 // 16 - lane // 2) % 4 * 32 + lane, tile * draws + 2 + c % 2)
    thread = r % 32 * 4 + c % 64 // 16
    words = philox(seed, chunk * 128 + thread, tile * draws + r % 64 // 32)
    return words[2:] + words[:2] if thread % 32 >= 16 else words


def compare_words(ptx, first):
    """Halves of words: how many, and how many are others."""
    total = bad = 0
    for upper in (0, 1):
        half = "{ .reg .b32 t; shr.u32 t, WORD, 16; cvt.u16.u32 CODE, t; }" if upper else "cvt.u16.u32 CODE, WORD;"
        text, count = re.subn(r"cvt\.rs\.satfinite\.e2m1x4\.f32\s+(\w+),\s*{[^}]*},\s*(%r\d+);", lambda m: half.replace("CODE", m[1]).replace("WORD", m[2]), ptx)
        if count == 0 or "cvt.rs" in text:
            sys.exit(f"{count} places with cvt.rs")
        kernel = Kernel(text)
        for i, (rows, columns) in enumerate(SHAPES):
            seed = (first + i) * 0x9E3779B97F4A7C15 % 2 ** 64
            x = numbers(first + i, rows, columns, False)
            for both in (0, 1):
                codes, _, copied, _ = kernel.run(both, x, rows, columns, 4.0, seed)
                for stored, m, k, turned in ((codes, rows, columns, False), (copied, columns, rows, True))[:1 + both]:
                    halves = struct.unpack(f"<{m * k // 4}H", stored)
                    for at in range(0, m * k, 16):
                        r, c = (at % k, at // k) if turned else (at // k, at % k)
                        want = [word >> 16 * upper & 0xFFFF for word in words_of(seed, r, c, columns, 4 if both else 2, turned)]
                        total, bad = total + 4, bad + sum(a != b for a, b in zip(halves[at // 4:], want))
    return total, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("program", "source", "philox", "folder"):
        parser.add_argument(name)
    parser.add_argument("--first", type=int, default=0, help="0: another one each time")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--other", action="store_true")
    parser.add_argument("--words", action="store_true")
    options = parser.parse_args()
    first = options.first or int.from_bytes(os.urandom(7), "little")
    print(f"seed {first}")
    if options.words:
        total, bad = compare_words(compile_kernel(options), first)
        print(f"{total} halves of words, {bad} differ")
        return 1 if bad else 0
    kernel, total, bad, records = Kernel(compile_kernel(options)), 0, 0, [{}, {}, {}]
    for i, (rows, columns) in enumerate(SHAPES):
        for special in (False, True):
            case, seed = 2 * i + special, (first + 2 * i + special) * 0x9E3779B97F4A7C15 % 2 ** 64
            x = numbers(first + case, rows, columns, special)
            values = [abs(v) for v in struct.unpack(f"<{rows * columns}f", widened(x, "bf16")) if abs(v) < INF]
            amax = (max(values), 2688.0, 0.0, 3.0)[i] if special else max(values)
            alone, both = (kernel.run(b, x, rows, columns, amax, seed) for b in (0, 1))
            turned = transposed(x, rows, columns)
            results = (x, rows, columns, alone[:2]), (x, rows, columns, both[:2]), (turned, columns, rows, both[2:])
            for which, (data, m, k, theirs) in enumerate(results):
                recipe = RECIPES[(which + 1) % 2 if options.other else which]
                mine = ours(options.program, options.folder, recipe, data, "bf16", m, amax, k, seed)
                count, wrong, place = difference(theirs, mine)
                total, bad = total + count, bad + wrong
                print(f"{recipe}, {m} x {k}, amax {amax:g}, seed {seed}: {wrong} of {count} bytes differ {place}", flush=True)
                records[which].update({} if case not in RECORDED else {
                    f"x.{case}": ("F32", [m, k], widened(data, "bf16")), f"g.{case}": ("F32", [1], struct.pack("<f", amax)),
                    f"seed.{case}": ("U64", [1], struct.pack("<Q", seed)), f"q.{case}": ("U8", [m, k // 2], theirs[0]),
                    f"sf.{case}": ("U8", [m, k // 16], theirs[1])})
    print(f"{total} bytes, {bad} differ")
    for recipe, record in zip(RECIPES, records) if options.record else ():
        write(f"{options.folder}/transformer_engine_cuda.{recipe[3:]}.bf16.safetensors", record, {
            "library": "transformer-engine", "version": "2.20.2 (transformer-engine-torch's sdist, common_headers; curanddx.hpp of the repository)",
            "kernel": "quantize_transpose_nvfp4_tuned_1D_kernel<true, false, BOTH, false>, sm_120a", "dtype_fed": "bf16",
            "arguments": "g: the amax; seed: the first word of rng_state, the second is 0", "flags": "-std=c++17 -O3 (no fast math), Philox with 10 rounds",
            "executed": "its CUDA kernel, compiled by nvcc 13.0.88 to PTX and executed on the virtual GPU (no GPU)"})
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
