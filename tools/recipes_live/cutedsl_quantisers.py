#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Executes FlashInfer's quantisers in CuTe DSL on the virtual GPU, and compares every byte with `fp4oracle quantize`.

usage: fp4oracle vgpu -- python3 cutedsl_quantisers.py FP4ORACLE FLASHINFER DSL FOLDER [--seeds N] [--first SEED]
           [--kernel PART] [--record]

FLASHINFER is the folder of flashinfer-python 0.7.4, DSL that of nvidia-cutlass-dsl 4.8.1 with its dependencies, unpacked by
pip or linked into one folder (tests/cli_quantize_cutedsl.sh). Neither torch nor numpy is needed. The DSL asks for a device
before it compiles: the virtual one will do. FOLDER gets each kernel's PTX, which is launched through libcuda.so.1 with the
arguments that FlashInfer gives it, and with --record what came out, for tests/data/recipes. Exit status 1 if a byte
differs."""
import argparse
import ctypes
import glob
import importlib
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import types

K = 256
NAN, INF = float("nan"), float("inf")
# FlashInfer's kernel, module and class; our recipe; dtypes that it takes; elements in a block, codes in a byte.
KERNELS = {
    "nvfp4": ("nvfp4_quantize", "NVFP4QuantizeLinearKernel", {}, "flashinfer_cute_nvfp4", "bf16 f16", 16, 2),
    "nvfp4_exact": ("nvfp4_quantize", "NVFP4QuantizeLinearKernel", {"disable_fp4_quant_fast_math": True}, "flashinfer_cute_nvfp4_exact",
                    "bf16 f16", 16, 2),
    "mxfp4": ("mxfp4_quantize", "MXFP4QuantizeLinearKernel", {}, "flashinfer_cute_mxfp4", "bf16 f16", 32, 2),
    "mxfp4_4t": ("mxfp4_quantize", "MXFP4QuantizeLinearKernel", {"use_4t_per_sf": True}, "flashinfer_cute_mxfp4", "bf16 f16", 32, 2),
    "mxfp8": ("mxfp8_quantize", "MXFP8QuantizeLinearKernel", {}, "flashinfer_cute_mxfp8", "bf16 f16 f32", 32, 1),
    "mxfp8_4t": ("mxfp8_quantize", "MXFP8QuantizeLinearKernel", {"use_2t_per_sf": False}, "flashinfer_cute_mxfp8", "bf16 f16 f32", 32, 1),
}
SCALES = (1.0, 0.37, 2688.0, 1e-3, 3e10, 1e-38, 1e-42, 0.0, INF, NAN)  # global scales of NVFP4


class Names(types.ModuleType):
    """Modules whose types are named and not used here: torch, and FlashInfer's own that import it."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def flashinfer(root, module):
    """One file of FlashInfer, without the rest of it."""
    if "flashinfer" not in sys.modules:
        for name in ("torch", "flashinfer.utils", "flashinfer.jit", "flashinfer.jit.cute_dsl_core", "flashinfer.cute_dsl.utils"):
            sys.modules[name] = Names(name)
        for name in ("flashinfer", "flashinfer.cute_dsl", "flashinfer.quantization", "flashinfer.quantization.kernels"):
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__path__ = [f"{root}/{name.replace('.', '/')}"]
    return importlib.import_module(f"flashinfer.quantization.kernels.{module}")


def compile_kernel(root, folder, name, dtype):
    """The PTX of one kernel."""
    import cuda.bindings.driver as cuda
    import cutlass
    import cutlass.cute as cute
    from cutlass.cute.runtime import make_ptr

    module, kind, options, _, _, block, packed = KERNELS[name]
    element = {"bf16": cutlass.BFloat16, "f16": cutlass.Float16, "f32": cutlass.Float32}[dtype]
    kernel = getattr(flashinfer(root, module), kind)(element, K, **options)

    @cute.jit
    def quantise(x: cute.Pointer, codes: cute.Pointer, scales: cute.Pointer, g: cute.Pointer, m: cutlass.Int32, stream: cuda.CUstream):
        x = cute.make_tensor(x, cute.make_ordered_layout((m, K), order=(1, 0)))
        codes = cute.make_tensor(codes, cute.make_ordered_layout((m, K // packed), order=(1, 0)))
        blocks = m * (K // block)
        scales = cute.make_tensor(scales, cute.make_layout((blocks,)))
        if cutlass.const_expr(module == "nvfp4_quantize"):
            kernel(x, codes, scales, m, blocks, cutlass.Int32(1), cute.make_tensor(g, cute.make_layout((1,))), stream)
        elif cutlass.const_expr(module == "mxfp4_quantize"):
            kernel(x, codes, scales, m, blocks, cutlass.Int32(1), stream)
        else:
            kernel(x, codes, scales, blocks, cutlass.Int32(1), stream)

    kinds = (element, cutlass.Uint8, cutlass.Uint8, cutlass.Float32)
    cute.compile(quantise, *(make_ptr(t, 16, cute.AddressSpace.gmem, assumed_align=16) for t in kinds), cutlass.Int32(1), cuda.CUstream(0))
    [text] = glob.glob(f"{folder}/*sm_120a.ptx")
    os.replace(text, f"{folder}/{name}.{dtype}.ptx")
    return pathlib.Path(f"{folder}/{name}.{dtype}.ptx").read_text()


class Device:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status != 0:
            sys.exit(f"{name}: error {status}")

    def load(self, ptx):
        module, entry = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx.encode())
        self.call("cuModuleGetFunction", ctypes.byref(entry), module, re.search(r"\.entry (\w+)", ptx).group(1).encode())
        return entry, len(re.findall(r"^\s*\.param ", ptx.split(")", 1)[0], re.M))

    def upload(self, data):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address

    def download(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, address, ctypes.c_size_t(size))
        self.call("cuMemFree_v2", address)
        return data.raw

    def quantise(self, kernel, x, rows, g, block, packed):
        """Codes and scales. A tensor is its address and its dynamic dimension; 0xA5 is what the kernel leaves untouched."""
        entry, count = kernel
        blocks = rows * (K // block)
        codes, scales = b"\xA5" * (rows * K // packed), b"\xA5" * blocks
        x, q, s, scale = (self.upload(data) for data in (x, codes, scales, struct.pack("<f", g)))
        tensors = [ctypes.create_string_buffer(struct.pack("<QQ", address.value, size), 16) for address, size in ((x, rows), (q, rows), (s, blocks))]
        # count: x, codes, scales, [rows,] blocks[, global scale]
        values = tensors + {4: [ctypes.c_int32(blocks)], 5: [ctypes.c_int32(rows), ctypes.c_int32(blocks)],
                            6: [ctypes.c_int32(rows), ctypes.c_int32(blocks), scale]}[count]
        pointers = (ctypes.c_void_p * count)(*(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values))
        self.call("cuLaunchKernel", entry, 2, 1, 1, 512, 1, 1, 0, None, pointers, None)
        self.call("cuCtxSynchronize")
        result = self.download(q, len(codes)), self.download(s, blocks)
        self.call("cuMemFree_v2", x)
        self.call("cuMemFree_v2", scale)
        return result


def rounded(values, dtype, up=0):
    """As the dtype stores them: bytes; `up` steps further from zero."""
    if dtype == "f16":
        codes = [struct.unpack("<H", struct.pack("<e", max(min(v, 65504), -65504) if abs(v) < INF else v))[0] for v in values]
    else:
        codes = [struct.unpack("<I", struct.pack("<f", v if v != v or abs(v) == INF else max(min(v, 3e38), -3e38)))[0] for v in values]
        if dtype == "bf16":
            codes = [(c >> 16 | 64) if c & 0x7FFFFFFF > 0x7F800000 else (c + 0x7FFF + (c >> 16 & 1)) >> 16 for c in codes]
    return struct.pack(f"<{len(codes)}{'I' if dtype == 'f32' else 'H'}", *(c + up for c in codes))


def boundaries(dtype, block, packed):
    """Blocks whose largest number is where the scale goes on to the next code, and its neighbours; the rest are small."""
    largest = 6.0 if packed == 2 else 448.0
    if block == 16:
        e4m3 = [m * 2.0 ** -9 for m in range(8)] + [(8 + m) * 2.0 ** (e - 10) for e in range(1, 16) for m in range(8)]
        tops = [6 * (a + b) / 2 for a, b in zip(e4m3, e4m3[1:127])] + [6 * v for v in e4m3[:127]]
    else:
        low, high = (-26, 8) if dtype == "f16" else (-140, 126)
        tops = [largest * 2.0 ** e for e in range(low, high)]
    data = b""
    for i, top in enumerate(t for t in tops if t < (65000 if dtype == "f16" else 3e38)):
        for step in (-1, 0, 1) if top > 2.0 ** -130 else (0,):
            rest = [top * ((j * 7 + i) % 25 - 12) / 48 for j in range(block - 1)]
            data += rounded([top], dtype, step) + rounded(rest, dtype)
    row = len(rounded([0.0], dtype)) * K
    return data + bytes(-len(data) % row)


def mixed(seed, dtype, block):
    """Ordinary blocks, short numbers whose quotients are midpoints, zeros of both signs, subnormals, huge numbers; in every
    fourth row NaN and infinities."""
    source, data = random.Random(seed), b""
    wide = 12 if dtype == "f16" else 100
    for row in range(32):
        for _ in range(K // block):
            kind, power = source.randrange(8), 2.0 ** source.randint(-8, 8)
            if kind < 3:
                values = [source.gauss(0, power) for _ in range(block)]
            elif kind < 5:
                values = [source.randint(-56, 56) / 8 * power for _ in range(block)]
            elif kind == 5:
                values = [source.choice((0.0, -0.0)) for _ in range(block)]
            else:
                power = 2.0 ** (source.randint(-149, -100) if dtype != "f16" else source.randint(-24, -14)) if kind == 6 else 2.0 ** wide
                values = [source.gauss(0, 2) * power for _ in range(block)]
            if row % 4 == 3:
                values = [source.choice((NAN, INF, -INF)) if source.randrange(60) == 0 else v for v in values]
                if source.randrange(16) == 0:
                    values = [NAN] * block
            data += rounded(values, dtype)
    return data


def write(path, tensors, about):
    header, at = {"__metadata__": about}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values()))


def read(path):
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name: data[slice(*(8 + length + o for o in entry["data_offsets"]))] for name, entry in header.items()}


def ours(program, folder, recipe, x, dtype, rows, g):
    write(f"{folder}/x.safetensors", {"x": (dtype.upper(), [rows, K], x)}, {})
    scale = [] if g is None else ["--library-scale", repr(g)]
    subprocess.run([program, "quantize", f"{folder}/x.safetensors:x", "--recipe", recipe, *scale, "-o", f"{folder}/q.safetensors"], check=True,
                   stdout=subprocess.DEVNULL)
    result = read(f"{folder}/q.safetensors")
    return result["codes"], result["scale"]


def widened(x, dtype):
    if dtype == "f32":
        return x
    if dtype == "bf16":
        return b"".join(b"\0\0" + x[i:i + 2] for i in range(0, len(x), 2))
    return struct.pack(f"<{len(x) // 2}f", *struct.unpack(f"<{len(x) // 2}e", x))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("program", "flashinfer", "dsl", "folder"):
        parser.add_argument(name)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="0: another one each time")
    parser.add_argument("--kernel", default="", help="those whose name has this part")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    folder = options.folder
    os.environ.update(CUTE_DSL_ARCH="sm_120a", CUTE_DSL_KEEP="ptx", CUTE_DSL_DUMP_DIR=folder)
    sys.path[:0] = [options.dsl, f"{options.dsl}/nvidia_cutlass_dsl/dsl_packages"]
    device, first = Device(), options.first or int.from_bytes(os.urandom(3), "little")
    print(f"seeds {first} to {first + options.seeds - 1}")
    total = bad = 0
    for name, (_, kind, arguments, recipe, dtypes, block, packed) in KERNELS.items():
        for dtype in dtypes.split() if options.kernel in name else []:
            kernel = device.load(compile_kernel(options.flashinfer, folder, name, dtype))
            cases = {"scales": (boundaries(dtype, block, packed), 1.0)}
            for seed in range(first, first + options.seeds):
                cases[f"s{seed}"] = mixed(seed, dtype, block), SCALES[0]
            if block == 16:
                cases.update({f"g{i}": (mixed(first + i, dtype, block), g) for i, g in enumerate(SCALES)})
            count = different = 0
            place, record = "", {}
            for case, (x, g) in cases.items():
                rows = len(x) // (K * (4 if dtype == "f32" else 2))
                theirs = device.quantise(kernel, x, rows, g, block, packed)
                mine = ours(options.program, folder, recipe, x, dtype, rows, g if block == 16 else None)
                for what, a, b in zip(("code byte", "scale"), theirs, mine):
                    if len(a) != len(b):
                        sys.exit(f"{name}: {len(a)} bytes, ours {len(b)}")
                    count += len(a)
                    places = [i for i in range(len(a)) if a[i] != b[i]]
                    different += len(places)
                    if places and not place:
                        i = places[0]
                        place = f"case {case}, {what} {i}: {a[i]:02X}, ours {b[i]:02X}"
                record.update({f"x.{case}": ("F32", [rows, K], widened(x, dtype)), f"q.{case}": ("U8", [rows, K // packed], theirs[0]),
                               f"sf.{case}": ("U8", [rows, K // block], theirs[1])})
                if block == 16:
                    record[f"g.{case}"] = "F32", [1], struct.pack("<f", g)
            total, bad = total + count, bad + different
            print(f"{recipe:24s} {kind} {arguments or ''} {dtype}: {different} of {count} bytes differ {place}", flush=True)
            if options.record:
                write(f"{folder}/flashinfer_cute.{name}.{dtype}.safetensors", record,
                      {"library": "flashinfer-python", "version": "0.7.4", "kernel": kind + (f" {arguments}" if arguments else ""), "dtype_fed": dtype,
                       "executed": "compiled by nvidia-cutlass-dsl 4.8.1 for sm_120a and executed on the virtual GPU (no GPU); rcp.approx as an H200's"})
    print(f"{total} bytes, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
