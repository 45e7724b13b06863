# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""FlashInfer's b12x GEMM for SM120 (what its mm_fp4 prefers there), compiled by the CuTe DSL without torch and without a GPU,
and run on a vector's operands.

usage: b12x_gemm.py compile FLASHINFER DSL FOLDER [f32]    writes FOLDER/b12x.so, with the DSL's own host code, and b12x.ptx
       b12x_gemm.py run FOLDER VECTOR OUTPUT [f32]         D = alpha * A * B^T in bf16; wants a GPU, or a virtual one

FLASHINFER is the folder of flashinfer-python 0.7.4, DSL that of nvidia-cutlass-dsl 4.8.1 with its dependencies. The object
holds machine code, of which the virtual GPU takes none: `run` it with FP4ORACLE_VGPU_PTX=FOLDER/b12x.ptx. NVFP4. With D in
f32, which FlashInfer's can_implement accepts, the kernel is wrong (docs/errata.md)."""
import ctypes
import glob
import importlib.util
import json
import os
import re
import struct
import subprocess
import sys
import types

TILE, BLOCK = (128, 128), 16


class Names(types.ModuleType):
    """FlashInfer's helpers name torch's types, and use none of them here."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def kernel_class(root):
    """The class in FlashInfer's file, without the rest of FlashInfer."""
    if importlib.util.find_spec("torch") is None:
        sys.modules["torch"] = Names("torch")
    for name, folder in (("flashinfer", "flashinfer"), ("flashinfer.cute_dsl", "flashinfer/cute_dsl")):
        package = types.ModuleType(name)
        package.__path__ = [f"{root}/{folder}"]
        sys.modules[name] = package
    path = f"{root}/flashinfer/gemm/kernels/dense_blockscaled_gemm_sm120_b12x.py"
    spec = importlib.util.spec_from_file_location("b12x", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["b12x"] = module
    spec.loader.exec_module(module)
    return module.DenseGemmKernel


def compile_kernel(root, dsl, folder, d="bf16"):
    os.environ.update(CUTE_DSL_ARCH="sm_120a", CUTE_DSL_KEEP="ptx", CUTE_DSL_DUMP_DIR=folder)
    sys.path[:0] = [dsl, f"{dsl}/nvidia_cutlass_dsl/dsl_packages"]
    import cuda.bindings.driver as cuda
    import cutlass
    import cutlass.cute as cute
    from cutlass.cute.runtime import make_ptr

    gemm = kernel_class(root)(BLOCK, TILE, (1, 1), use_prefetch=False, enable_pdl=False, swap_ab=False)

    @cute.jit
    def multiply(a: cute.Pointer, b: cute.Pointer, d: cute.Pointer, a_scale: cute.Pointer, b_scale: cute.Pointer,
                 alpha: cute.Pointer, m: cutlass.Int32, n: cutlass.Int32, k: cutlass.Int32, stream: cuda.CUstream):
        codes_a = cute.make_tensor(a, cute.make_ordered_layout((m, k), order=(1, 0)))
        codes_b = cute.make_tensor(b, cute.make_ordered_layout((n, k), order=(1, 0)))
        out = cute.make_tensor(d, cute.make_ordered_layout((m, n), order=(1, 0)))
        factor = cute.make_tensor(alpha, cute.make_layout((1,)))
        gemm.wrapper(codes_a, codes_b, out, cutlass.Int64((m + 127) // 128), cutlass.Int64((n + 127) // 128),
                     cutlass.Int64((k + 63) // 64), 1, a_scale, b_scale, factor, 4, stream)

    code, scale = cutlass.Float4E2M1FN, cutlass.Float8E4M3FN
    kinds = (code, code, {"bf16": cutlass.BFloat16, "f32": cutlass.Float32}[d], scale, scale, cutlass.Float32)
    arguments = [make_ptr(kind, 32, cute.AddressSpace.gmem, assumed_align=32) for kind in kinds]
    compiled = cute.compile(multiply, *arguments, cutlass.Int32(128), cutlass.Int32(128), cutlass.Int32(128), cuda.CUstream(0))
    compiled.export_to_c(folder, "b12x")
    [text] = glob.glob(f"{folder}/*sm_120a.ptx")
    os.replace(text, f"{folder}/b12x.ptx")
    runtime = glob.glob(f"{dsl}/nvidia_cutlass_dsl/cu1*/lib/libcuda_dialect_runtime_static.a")[0]
    subprocess.run(["cc", "-shared", "-o", f"{folder}/b12x.so", f"{folder}/b12x.o", runtime, "-lstdc++"], check=True)


def read_tensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {name: (t["shape"], data[slice(*t["data_offsets"])]) for name, t in header.items() if name != "__metadata__"}


def write_output(path, kind, shape, data):
    header = json.dumps({"d": {"dtype": kind.upper(), "shape": shape, "data_offsets": [0, len(data)]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data)


def scales_128x4(shape, data):
    """Row-major scales in the order that the kernel reads: docs/layouts.md."""
    rows, columns = shape
    blocks = (columns + 3) // 4
    out = bytearray((rows + 127) // 128 * blocks * 512)
    for r in range(rows):
        for c in range(columns):
            at = ((r // 128 * blocks + c // 4) * 32 + r % 32) * 16 + r % 128 // 32 * 4 + c % 4
            out[at] = data[r * columns + c]
    return bytes(out)


class Kernel:
    """The exported object: as b12x.h has it, without a C compiler."""

    def __init__(self, folder):
        self.cuda = ctypes.CDLL("libcudart.so.12", ctypes.RTLD_GLOBAL)
        self.object = ctypes.CDLL(f"{folder}/b12x.so")
        with open(f"{folder}/b12x.h") as header:
            self.name = re.search(r"void (_mlir_b12x__mlir_ciface\w+)\(", header.read()).group(1)
        library, error, device = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int32()
        place = ctypes.pointer(library)
        self.call("_mlir_b12x_cuda_init", ctypes.pointer(place), ctypes.pointer(error))
        self.call("_mlir_b12x_cuda_load_to_device", ctypes.pointer(place), ctypes.pointer(device), ctypes.pointer(error))
        self.check(error.value)

    def call(self, name, *pointers):
        getattr(self.object, name)((ctypes.c_void_p * len(pointers))(*(ctypes.cast(p, ctypes.c_void_p) for p in pointers)),
                                   ctypes.c_int32(len(pointers)))

    def check(self, error):
        if error != 0:
            sys.exit(f"CUDA: error {error}")

    def upload(self, data):
        address = ctypes.c_void_p()
        self.check(self.cuda.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(len(data))))
        self.check(self.cuda.cudaMemcpy(address, data, ctypes.c_size_t(len(data)), 1))
        return address

    def run(self, addresses, m, n, k):
        error = ctypes.c_int32()
        values = [*addresses, *(ctypes.c_int32(x) for x in (m, n, k)), ctypes.c_void_p(), error]
        self.call(self.name, *(ctypes.pointer(x) for x in values))
        self.check(error.value)
        self.check(self.cuda.cudaDeviceSynchronize())


def run(folder, vector, output, d="bf16"):
    t = read_tensors(vector)
    (m, bytes_k), (n, _) = t["a"][0], t["b"][0]
    # The tensor scales reach a kernel of this kind inside alpha, each product rounded to f32.
    alpha = ctypes.c_float(1.0)
    for factor in (name for name in ("alpha", "a_tensor_scale", "b_tensor_scale") if name in t):
        alpha = ctypes.c_float(alpha.value * struct.unpack("<f", t[factor][1])[0])
    kernel = Kernel(folder)
    size = {"bf16": 2, "f32": 4}[d] * m * n
    held = [t["a"][1], t["b"][1], bytes(size), scales_128x4(*t["a_scale"]), scales_128x4(*t["b_scale"]), bytes(alpha)]
    addresses = [kernel.upload(x) for x in held]
    kernel.run(addresses, m, n, 2 * bytes_k)
    result = ctypes.create_string_buffer(size)
    kernel.check(kernel.cuda.cudaMemcpy(result, addresses[2], ctypes.c_size_t(len(result)), 2))
    write_output(output, d, [m, n], result.raw)


def main():
    what = {"compile": compile_kernel, "run": run}.get(sys.argv[1]) if len(sys.argv) in (5, 6) else None
    if what is None:
        sys.exit(__doc__)
    what(*sys.argv[2:])


main()
