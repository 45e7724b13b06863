#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Executes CUDA quantisers of vLLM, SGLang and TransformerEngine on the virtual GPU, and compares every byte with
`fp4oracle quantize`.

usage: fp4oracle vgpu -- python3 cuda_quantisers.py FP4ORACLE vllm SOURCE FOLDER
       fp4oracle vgpu -- python3 cuda_quantisers.py FP4ORACLE sglang SOURCE FOLDER --flashinfer FLASHINFER
       fp4oracle vgpu -c capability=90 -- python3 cuda_quantisers.py FP4ORACLE transformer_engine SOURCE FOLDER
           [--seeds N] [--first SEED] [--kernel PART] [--record]

SOURCE is the unpacked source package of vllm 0.33.0 or transformer-engine-torch 2.20.2 (pip download --no-deps --no-binary
:all: --no-build-isolation --no-clean leaves it in a folder of its own, although it cannot build it), or a check-out of SGLang
with python/sglang/kernels/aot. FLASHINFER: the folder of flashinfer-python, for a header. The kernels' own text is compiled by
nvcc to PTX, without torch: of vLLM's and SGLang's files the part without torch is taken, and torch's e4m3 type is written
below. TransformerEngine takes a minute. FOLDER gets the PTX, and with --record what came out. Exit status 1 if a byte
differs."""
import argparse
import ctypes
import os
import pathlib
import random
import re
import struct
import subprocess
import sys

from virtual_device import INF, K, NAN, SIZE, Device, boundaries, difference, mixed, ours, rounded, widened, write

CTYPE = {"bf16": "__nv_bfloat16", "f16": "__half", "f32": "float"}
# What vLLM's headers take from torch's.
TORCH = """#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#define STD_TORCH_CHECK(...)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_ALWAYS_INLINE __forceinline__
namespace torch { namespace headeronly {
struct alignas(1) Float8_e4m3fn {
  uint8_t x;
  struct from_bits_t {};
  __host__ __device__ static constexpr from_bits_t from_bits() { return {}; }
  Float8_e4m3fn() = default;
  __host__ __device__ constexpr Float8_e4m3fn(uint8_t bits, from_bits_t) : x(bits) {}
  __host__ __device__ constexpr operator float() const {  // of numbers that are constants here
    int e = x >> 3 & 15, m = x & 7;
    float v = e == 0 ? m / 512.0f : (8 + m) / 1024.0f;
    for (; e > 0; e--) v *= 2;
    return x >> 7 ? -v : v;
  }
};
struct BFloat16 { uint16_t x; __host__ __device__ operator float() const { return __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{x})); } };
struct Half { uint16_t x; __host__ __device__ operator float() const { return __half2float(__half(__half_raw{x})); } };
struct alignas(1) Float8_e4m3fnuz {
  uint8_t x;
  struct from_bits_t {};
  __host__ __device__ static constexpr from_bits_t from_bits() { return {}; }
  __host__ __device__ constexpr Float8_e4m3fnuz(uint8_t bits, from_bits_t) : x(bits) {}
};
} }
namespace c10 { using namespace torch::headeronly; }
template <> struct std::numeric_limits<torch::headeronly::Float8_e4m3fn> {
  __host__ __device__ static constexpr torch::headeronly::Float8_e4m3fn max() {
    return torch::headeronly::Float8_e4m3fn(0x7E, torch::headeronly::Float8_e4m3fn::from_bits());
  }
};
"""
TORCH_HEADERS = ("util/Float8_e4m3fn.h", "util/Float8_e4m3fnuz.h", "util/Exception.h", "macros/Macros.h", "core/ScalarType.h")


def nvcc(folder, name, text, arch, flags):
    """The PTX of a source, its kernels instantiated."""
    source, ptx = pathlib.Path(folder) / f"{name}.cu", pathlib.Path(folder) / f"{name}.ptx"
    source.write_text(text)
    compiler = os.environ.get("NVCC", "nvcc")
    run = subprocess.run([compiler, "-ptx", f"-arch={arch}", "-O3", "-DNDEBUG", "--expt-relaxed-constexpr", "--extended-lambda", "-w", *flags,
                          "-o", ptx, source], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{compiler}: {run.stderr[:2000]}")
    return ptx.read_text()


def between(text, begin, end):
    return text[text.index(begin):text.index(end, text.index(begin)) + len(end)]


class Vllm:
    """csrc/quantization/w8a8/fp8/common.cu: static scales."""
    about = {"library": "vllm", "version": "0.33.0 (sdist csrc)", "flags": "-std=c++20 -O3 --expt-relaxed-constexpr -DENABLE_FP8 (no fast math)"}
    # name: recipe, scales of the tensor
    kernels = {"vllm_cuda.static_fp8": ("vllm_fp8_tensor_static", (0.0123, 1.0, 3e-42, 1e38, 0.0, INF, NAN))}
    block, row_tile = 128, 1

    def compile(self, options):
        csrc = pathlib.Path(options.source) / "csrc"
        for header in TORCH_HEADERS:
            path = pathlib.Path(options.folder) / "torch/headeronly" / header
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#include <torch_stub.h>\n")
        (pathlib.Path(options.folder) / "torch_stub.h").write_text(TORCH)
        kernels = between((csrc / "quantization/w8a8/fp8/common.cu").read_text(), "namespace vllm {", "}  // namespace vllm\n")
        text = ('#include <torch_stub.h>\n#include "quantization/w8a8/fp8/common.cuh"\n#include "core/cuda_compat.h"\n#include "cub_helpers.h"\n'
                f'#include "quantization/vectorization_utils.cuh"\n{kernels}')
        for t in CTYPE.values():
            text += (f"template __global__ void vllm::scaled_fp8_quant_kernel_strided_group_shape<{t}, c10::Float8_e4m3fn, true, true>(c10::Float8_e4m3fn *, "
                     f"const {t} *, const float *, int, int64_t, int64_t, int, int, int64_t, int64_t);\n")
        return nvcc(options.folder, "vllm", text, "compute_120a", ["-std=c++20", "-DENABLE_FP8", "-I", options.folder, "-I", str(csrc)])

    def entry(self, name, dtype):
        return "group_shapeI" + {"bf16": "13__nv_bfloat16", "f16": "6__half", "f32": "f"}[dtype]

    def run(self, device, kernel, name, x, dtype, rows, g):
        x, q, s = addresses = [device.upload(data) for data in (x, b"\xA5" * rows * K, struct.pack("<f", g))]
        long = ctypes.c_int64
        device.launch(kernel, (rows, 1, 1), 256, [q, x, s, ctypes.c_int32(K), long(K), long(K), ctypes.c_int32(rows), ctypes.c_int32(K), long(0), long(0)])
        codes = device.download(q, rows * K)
        device.free(*addresses)
        return codes, struct.pack("<f", g)


class Sglang:
    """The ahead-of-time kernel, as CMakeLists.txt has it compiled for sm_100 and later, and with -use_fast_math for sm_90."""
    about = {"library": "sglang", "version": "sglang-kernel 0.4.6.post1, python/sglang/kernels/aot"}
    kernels = {"sglang_cuda.group_aot_fp32": ("sglang_fp8_group128_aot", (None,)),
               "sglang_cuda.group_aot_ue8m0": ("sglang_fp8_group128_ue8m0_aot", (None,)),
               "sglang_cuda.group_aot_fp32_fastmath": ("sglang_fp8_group128_aot_sm90", (None,))}
    block, row_tile = 128, 1

    def compile(self, options):
        file = pathlib.Path(options.source) / "python/sglang/kernels/aot/csrc/gemm/per_token_group_quant_8bit.cu"
        kernels = between(file.read_text(), "__device__", "\nvoid ").rsplit("void ", 1)[0]
        text = "#include <cuda_fp8.h>\n#include <cmath>\n#include <flashinfer/vec_dtypes.cuh>\n#include <type_traits>\n" + kernels
        for t in CTYPE.values():
            for powers in ("false", "true"):
                s = "uint32_t" if powers == "true" else "float"
                text += (f"template __global__ void per_token_group_quant_8bit_kernel<{t}, __nv_fp8_e4m3, {powers}, {powers}>(const {t} *, void *, {s} *, int, "
                         "int, int, float, float, float, int, int);\n")
        flags = ["-std=c++17", "-DFLASHINFER_ENABLE_F16", "-DFLASHINFER_ENABLE_BF16", "-DFLASHINFER_ENABLE_FP8", "-DFLASHINFER_ENABLE_FP8_E4M3",
                 "-DFLASHINFER_ENABLE_FP8_E5M2", "-I", f"{options.flashinfer}/flashinfer/data/include"]
        self.precise = nvcc(options.folder, "sglang", text, "compute_120a", flags)
        return self.precise, nvcc(options.folder, "sglang_fastmath", text, "compute_120a", flags + ["-use_fast_math"])

    def entry(self, name, dtype):
        return {"bf16": "I13__nv_bfloat16", "f16": "I6__half", "f32": "If"}[dtype] + ".*Lb" + ("1" if "ue8m0" in name else "0")

    def run(self, device, kernel, name, x, dtype, rows, g):
        groups, powers = rows * K // 128, "ue8m0" in name
        stride = (rows + 3) // 4 * 4  # words of four ue8m0 bytes, rows fastest
        x, q, s = addresses = [device.upload(data) for data in (x, b"\xA5" * rows * K, b"\xA5" * 4 * max(groups, stride))]
        values = [x, q, s, *map(ctypes.c_int32, (128, groups, 16)), *map(ctypes.c_float, (1e-10, -448.0, 448.0)), ctypes.c_int32(K // 128),
                  ctypes.c_int32(stride)]
        device.launch(kernel, (groups // 16, 1, 1), 256, values)
        codes, scales = device.download(q, rows * K), device.download(s, 4 * max(groups, stride))
        device.free(*addresses)
        if powers:
            return codes, bytes(scales[4 * r + c] for r in range(rows) for c in range(K // 128))
        return codes, scales[:4 * groups]


class TransformerEngine:
    """cast/fp8_blockwise/group_quantize_fp8_blockwise.cuh: one tensor in the group."""
    about = {"library": "transformer-engine", "version": "2.20.2 (transformer-engine-torch's sdist, common_headers)",
             "flags": "-std=c++17 -O3 --expt-relaxed-constexpr (no fast math)"}
    kernels = {"transformer_engine_cuda.fp8_1x128": ("te_fp8_1x128", (None,)), "transformer_engine_cuda.fp8_1x128_pow2": ("te_fp8_1x128_pow2", (None,)),
               "transformer_engine_cuda.fp8_128x128": ("te_fp8_128x128", (None,)),
               "transformer_engine_cuda.fp8_128x128_pow2": ("te_fp8_128x128_pow2", (None,))}
    block, row_tile = 128, 128

    def compile(self, options):
        headers = f"{options.source}/common_headers"
        text = '#include "common/cast/fp8_blockwise/group_quantize_fp8_blockwise.cuh"\n'  # all of its kernels are instantiated
        # Headers ask for others three folders up.
        (pathlib.Path(options.folder) / "a/b").mkdir(parents=True, exist_ok=True)
        ptx = nvcc(options.folder, "transformer_engine", text, "compute_90a",
                   ["-std=c++17", "-DNVTE_BUILD_NUM_PHILOX_ROUNDS=10", "-I", headers, "-I", f"{headers}/common", "-I", f"{headers}/common/include",
                    "-I", f"{options.folder}/a/b"])
        # Thread 0 invalidates the mbarrier on which other warps may still wait (docs/errata.md): the virtual GPU stops there.
        return re.sub(r"mbarrier\.inval\b[^;]*;", "", ptx)

    def entry(self, name, dtype):
        kind = "2d_tma_kernelILb1ELb1ELb0E" if "128x128" in name else "1d_rw_kernelILb1E"
        return kind + "f" + {"bf16": "13__nv_bfloat16", "f16": "6__half", "f32": "f"}[dtype] + "13__nv_fp8_e4m3"

    def run(self, device, kernel, name, x, dtype, rows, g):
        square, powers = "128x128" in name, ctypes.c_bool("pow2" in name)
        tiles, columns, size, null = rows // 128, K // 128, ctypes.c_size_t, ctypes.c_uint64(0)
        count = tiles * 4 if square else rows * columns
        x, q, s = addresses = [device.upload(data) for data in (x, b"\xA5" * rows * K, b"\xA5" * 4 * count)]
        grid = columns, tiles, 1
        if square:
            room = ctypes.create_string_buffer(192)
            tensor_map = (ctypes.c_char * 128).from_buffer(room, -ctypes.addressof(room) % 64)
            device.call("cuTensorMapEncodeTiled", ctypes.byref(tensor_map), {"f32": 7, "f16": 6, "bf16": 9}[dtype], 2, x, (ctypes.c_uint64 * 2)(K, rows),
                        (ctypes.c_uint64 * 1)(K * SIZE[dtype]), (ctypes.c_uint32 * 2)(128, 128), (ctypes.c_uint32 * 2)(1, 1), 0, 0, 0, 0)
            device.launch(kernel, grid, 256, [tensor_map, q, null, s, null, null, size(1), size(tiles), size(K), size(tiles), size(columns), size(4),
                                              ctypes.c_float(0), powers, null, null], 128 * 128 * SIZE[dtype] + 127)
        else:
            device.launch(kernel, grid, 256, [x, q, s, null, size(1), size(tiles), size(K), size(tiles), size(rows), ctypes.c_float(0), powers, null])
        codes, scales = device.download(q, rows * K), device.download(s, 4 * count)
        device.free(*addresses)
        place = (lambda r, c: r * 4 + c) if square else (lambda r, c: c * rows + r)
        return codes, b"".join(scales[4 * place(r, c):][:4] for r in range(tiles if square else rows) for c in range(columns))


def squares(seed, dtype):
    """128 x 128 blocks of a kind each: largest numbers beside powers of two times 448, zeros, tiny, huge, NaN, infinities."""
    source, data = random.Random(seed), b""
    low, high = (-20, 7) if dtype == "f16" else (-145, 118)
    for _ in range(4):
        kinds = [source.randrange(10) for _ in range(K // 128)]
        tops = [448 * 2.0 ** (source.randint(low, high) if kind < 5 else source.randint(-12, 4)) for kind in kinds]
        tops = [0.0 if kind == 5 else top for kind, top in zip(kinds, tops)]
        spot = [(source.randrange(128), source.randrange(128)) for _ in kinds]
        for row in range(128):
            for column, (kind, top) in enumerate(zip(kinds, tops)):
                values = [source.randint(-30, 30) / 64 * top * 2.0 ** -source.randrange(8) for _ in range(128)]
                for i in (source.randrange(128),) if kind > 7 and row % 9 == 0 else ():
                    values[i] = source.choice((NAN, INF, -INF) if kind == 9 else (NAN,))
                stored = rounded(values, dtype)
                if row == spot[column][0]:
                    at = spot[column][1] * SIZE[dtype]
                    stored = stored[:at] + rounded([top], dtype, source.choice((-1, 0, 1)) if top > 2.0 ** -120 else 0) + stored[at + SIZE[dtype]:]
                data += stored
    return data


def canonical(codes, scales, floats):
    """The sign and payload of a NaN are nobody's claim."""
    codes = codes.replace(b"\xFF", b"\x7F")
    if floats:
        scales = b"".join(b"\xFF\xFF\xFF\x7F" if s[3] & 127 == 127 and s[2] > 128 else s for s in (scales[i:i + 4] for i in range(0, len(scales), 4)))
    return codes, scales


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(".")[0])
    libraries = {"vllm": Vllm, "sglang": Sglang, "transformer_engine": TransformerEngine}
    parser.add_argument("program")
    parser.add_argument("library", choices=libraries)
    parser.add_argument("source")
    parser.add_argument("folder")
    parser.add_argument("--flashinfer")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="0: another one each time")
    parser.add_argument("--kernel", default="", help="those whose name has this part")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    library = libraries[options.library]()
    ptx = library.compile(options)
    device, first = Device(), options.first or int.from_bytes(os.urandom(3), "little")
    print(f"seeds {first} to {first + options.seeds - 1}")
    total = bad = 0
    for name, (recipe, scales) in library.kernels.items():
        for dtype in CTYPE if options.kernel in name else ():
            text = ptx if isinstance(ptx, str) else ptx["fastmath" in name]
            kernel, _ = device.load(text, library.entry(name, dtype))
            square = "128x128" in name
            cases = {} if square or scales != (None,) else {"scales": boundaries(dtype, 128, 1)}
            for seed in range(first, first + options.seeds):
                cases[f"s{seed}"] = squares(seed, dtype) if square else mixed(seed, dtype, 128)
            count = different = 0
            place, record = "", {}
            for case, x in cases.items():
                row = K * SIZE[dtype]
                x += bytes(-len(x) % (row * max(library.row_tile, 8)))
                rows = len(x) // row
                for i, g in enumerate(scales):
                    theirs = library.run(device, kernel, name, x, dtype, rows, g)
                    mine = ours(options.program, options.folder, recipe, x, dtype, rows, g)
                    floats = len(mine[1]) != rows * K // 128
                    compared, wrong, where = difference(canonical(*theirs, floats), canonical(*mine, floats))
                    label = case if g is None else f"{case}_g{i}"
                    count, different, place = count + compared, different + wrong, place or (where and f"case {label}, {where}")
                    columns = K // 128 if g is None else 1
                    record.update({f"x.{label}": ("F32", [rows, K], widened(x, dtype)), f"q.{label}": ("U8", [rows, K], theirs[0])})
                    if g is None:
                        record[f"sf.{label}"] = "F32" if floats else "U8", [len(theirs[1]) // columns // (4 if floats else 1), columns], theirs[1]
                    else:
                        record[f"g.{label}"] = "F32", [1], theirs[1]
            total, bad = total + count, bad + different
            print(f"{recipe:32s} {dtype:4s}: {different} of {count} bytes differ {place}", flush=True)
            if options.record:
                write(f"{options.folder}/{name}.{dtype}.safetensors", record, {
                    **library.about, "dtype_fed": dtype,
                    "executed": "its CUDA kernel, compiled by nvcc 13.0.88 to PTX and executed on the virtual GPU (no GPU); rcp.approx as an H200's"})
    print(f"{total} bytes, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
