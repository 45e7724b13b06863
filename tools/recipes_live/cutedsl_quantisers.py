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
import os
import pathlib
import struct
import sys
import types

from virtual_device import INF, K, NAN, SIZE, Device, boundaries, difference, mixed, ours, widened, write

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


def quantise(device, kernel, x, rows, g, block, packed):
    """Codes and scales. A tensor is its address and its dynamic dimension; A5 is what the kernel leaves untouched."""
    entry, count = kernel
    blocks = rows * (K // block)
    sizes = rows * K // packed, blocks
    addresses = x, q, s, scale = [device.upload(data) for data in (x, b"\xA5" * sizes[0], b"\xA5" * sizes[1], struct.pack("<f", g))]
    tensors = [ctypes.create_string_buffer(struct.pack("<QQ", address.value, size), 16) for address, size in ((x, rows), (q, rows), (s, blocks))]
    values = tensors + {4: [ctypes.c_int32(blocks)], 5: [ctypes.c_int32(rows), ctypes.c_int32(blocks)],
                        6: [ctypes.c_int32(rows), ctypes.c_int32(blocks), scale]}[count]
    device.launch(entry, (2, 1, 1), 512, values)
    result = device.download(q, sizes[0]), device.download(s, sizes[1])
    device.free(*addresses)
    return result


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
                rows = len(x) // (K * SIZE[dtype])
                theirs = quantise(device, kernel, x, rows, g, block, packed)
                mine = ours(options.program, folder, recipe, x, dtype, rows, g if block == 16 else None)
                compared, wrong, where = difference(theirs, mine)
                count, different, place = count + compared, different + wrong, place or (where and f"case {case}, {where}")
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
