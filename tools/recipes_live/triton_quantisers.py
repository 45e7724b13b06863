#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Executes the quantisers that libraries wrote in Triton, on the virtual GPU, and compares every byte with `fp4oracle quantize`.

usage: fp4oracle vgpu -- VENV/bin/python triton_quantisers.py FP4ORACLE [--seeds N] [--first SEED]
           [--kernel PART] [--capability 120] [--deepseek CHECK-OUT] [--record FOLDER]

VENV is made by setup.sh. A kernel's function is taken out of the installed package's source (it imports torch, which a kernel
does not need), compiled by Triton and launched through libcuda.so.1.
DeepSeek's kernels are no package: give a check-out of github.com/deepseek-ai/DeepSeek-V3 at 9b4e978. --record writes what
came out for tests/data/recipes. Exit status 1 if a byte differs.
"""
import argparse
import ast
import ctypes
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

import numpy
import triton
from safetensors.numpy import save_file
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import virtual_device

ROWS, COLUMNS = 128, 512
TYPES = {"f32": "*fp32", "bf16": "*bf16", "f16": "*fp16"}


def take(path, names):
    """The functions of these names with their decorators, as a module; what they refer to in Triton's language is there."""
    text = pathlib.Path(path).read_text()
    lines, parts = text.split("\n"), []

    def visit(body):
        for node in body:
            if isinstance(node, ast.FunctionDef) and node.name in names:
                decorators = [d for d in node.decorator_list if "autotune" not in ast.unparse(d)]
                first = decorators[0].lineno if decorators else node.lineno
                parts.append(textwrap.dedent("\n".join(lines[first - 1:node.end_lineno])))
            elif isinstance(node, (ast.If, ast.Try, ast.FunctionDef, ast.ClassDef)):
                visit(node.body)

    visit(ast.parse(text).body)
    missing = len(names) - len(parts)
    if missing:
        raise RuntimeError(f"{path} lacks {missing} of {', '.join(names)}")
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write("import triton\nimport triton.language as tl\nMXFP_BLOCK_SIZE = tl.constexpr(32)\n"
                   "IS_ROCM = tl.constexpr(False)\n\n" + "\n\n".join(parts) + "\n")
    spec = importlib.util.spec_from_file_location(f"taken_{len(sys.modules)}", file.name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package(name):
    return pathlib.Path(next(p for p in sys.path if (pathlib.Path(p) / name).is_dir())) / name


def source(name):
    return pathlib.Path(sys.prefix) / "source" / name


class Device(virtual_device.Device):
    def __init__(self, capability):
        super().__init__()
        self.capability, self.functions = capability, {}

    def failed(self, reason):
        """One kernel's failure is not the end."""
        raise RuntimeError(reason)

    def compile(self, function, types, constants, warps):
        key = (function.__name__, id(function), tuple(types.items()), tuple(constants.items()))
        if key not in self.functions:
            signature = {name: "constexpr" if name in constants else types[name] for name in function.arg_names}
            compiled = triton.compile(ASTSource(fn=function, signature=signature, constexprs=constants),
                                      target=GPUTarget("cuda", self.capability, 32), options={"num_warps": warps})
            module, entry = ctypes.c_void_p(), ctypes.c_void_p()
            self.call("cuModuleLoadData", ctypes.byref(module), compiled.asm["ptx"].encode())
            self.call("cuModuleGetFunction", ctypes.byref(entry), module, compiled.metadata.name.encode())
            self.functions[key] = entry, compiled.metadata.shared
        return self.functions[key]

    def launch(self, function, grid, arguments, types, constants, warps):
        """Arrays are copied in and out; the rest are numbers. Triton adds two addresses of scratch memory, not used here."""
        entry, shared = self.compile(function, types, constants, warps)
        memory, values = {}, []
        for name in function.arg_names:
            if name in constants:
                continue
            value = arguments[name]
            if isinstance(value, numpy.ndarray):
                address = self.upload(ctypes.string_at(value.ctypes.data, value.nbytes))
                memory[name] = address
                values.append(address)
            else:
                values.append(ctypes.c_float(value) if types[name] == "fp32" else ctypes.c_int32(value))
        values += [ctypes.c_uint64(0), ctypes.c_uint64(0)]
        super().launch(entry, tuple(grid) + (1,) * (3 - len(grid)), 32 * warps, values, shared)
        for name, address in memory.items():
            array = arguments[name]
            ctypes.memmove(array.ctypes.data, self.download(address, array.nbytes), array.nbytes)
            self.free(address)


def stored(x, dtype):
    """Numbers that the dtype has, as its bytes."""
    if dtype == "f32":
        return x.copy()
    if dtype == "f16":
        return x.astype(numpy.float16)
    return (x.view(numpy.uint32) >> 16).astype(numpy.uint16)


KERNELS = {}   # name: (library, dtypes, recipe, function of device, x, dtype -> codes, scales)


def kernel(name, library, dtypes="f32 bf16 f16", recipe=None):
    def decorate(run):
        KERNELS[name] = (library, dtypes.split(), recipe or name, run)
        return run
    return decorate


def group_quantiser(path, function, column_major=None, powers=False):
    """vLLM's and SGLang's: a program a group of 128."""
    def run(device, x, dtype):
        f = getattr(take(path(), [function]), function)
        rows, k = x.shape
        codes, scales = numpy.zeros((rows, k), numpy.uint8), numpy.zeros((rows, k // 128), numpy.float32)
        if column_major:
            scales = numpy.zeros((k // 128, rows), numpy.float32)
        arguments = {"y_ptr": stored(x, dtype), "y_q_ptr": codes, "y_s_ptr": scales, "group_size": 128, "y_num_columns": k,
                     "y_row_stride": k, "y_stride": 128, "N": 128, "y_s_col_stride": rows, "eps": 1e-10, "bit8_min": -448.0,
                     "bit8_max": 448.0}
        types = {name: "i32" for name in arguments}
        types.update(y_ptr=TYPES[dtype], y_q_ptr="*fp8e4nv", y_s_ptr="*fp32", eps="fp32", bit8_min="fp32", bit8_max="fp32")
        constants = {"BLOCK": 128}
        if "use_ue8m0" in f.arg_names:
            constants.update(fp8_min=-448.0, fp8_max=448.0, use_ue8m0=powers)
        if "SCALE_UE8M0" in f.arg_names:
            constants.update(SCALE_UE8M0=powers)
        device.launch(f, (rows * k // 128,), arguments, {n: types[n] for n in f.arg_names if n in types}, constants, 1)
        return codes, numpy.ascontiguousarray(scales.T) if column_major else scales
    return run


def vllm_fp8():
    return source("vllm") / "model_executor/layers/quantization/utils/fp8_utils.py"


def sglang_fp8():
    return package("sglang") / "kernels/ops/quantization/fp8_kernel.py"


kernel("vllm_fp8_group128_triton", "vLLM 0.33.0")(group_quantiser(vllm_fp8, "_per_token_group_quant_fp8"))
kernel("vllm_fp8_group128_triton_ue8m0", "vLLM 0.33.0")(group_quantiser(vllm_fp8, "_per_token_group_quant_fp8", powers=True))
kernel("sglang_fp8_group128_triton_row", "SGLang 0.5.23")(group_quantiser(sglang_fp8, "_per_token_group_quant_8bit"))
kernel("sglang_fp8_group128_triton_column", "SGLang 0.5.23")(
    group_quantiser(sglang_fp8, "_per_token_group_quant_8bit_colmajor", column_major=True))
kernel("sglang_fp8_group128_triton_column_ue8m0", "SGLang 0.5.23")(
    group_quantiser(sglang_fp8, "_per_token_group_quant_8bit_colmajor", column_major=True, powers=True))


def sglang_act_quant(powers):
    def run(device, x, dtype):
        f = take(package("sglang") / "kernels/ops/quantization/act_quant_triton.py", ["_act_quant_kernel"])._act_quant_kernel
        rows, k = x.shape
        codes, scales = numpy.zeros((rows, k), numpy.uint8), numpy.zeros((rows, k // 128), numpy.float32)
        types = {"X_ptr": TYPES[dtype], "Y_ptr": "*fp8e4nv", "S_ptr": "*fp32", "M": "i32", "N": "i32"}
        device.launch(f, (-(-rows // 32), k // 128), {"X_ptr": stored(x, dtype), "Y_ptr": codes, "S_ptr": scales, "M": rows, "N": k},
                      types, {"group_size": 128, "round_scale": powers, "BLOCK_M": 32, "BLOCK_N": 128}, 4)
        return codes, scales
    return run


kernel("sglang_act_quant", "SGLang 0.5.23")(sglang_act_quant(False))
kernel("sglang_act_quant_ue8m0", "SGLang 0.5.23")(sglang_act_quant(True))


@kernel("sglang_mxfp8_triton", "SGLang 0.5.23")
def sglang_mxfp8(device, x, dtype):
    f = take(package("sglang") / "kernels/ops/quantization/mxfp8_quant.py", ["_mxfp8_quant_kernel"])._mxfp8_quant_kernel
    rows, k = x.shape
    codes, scales = numpy.zeros((rows, k), numpy.uint8), numpy.zeros((rows, k // 32), numpy.uint8)
    arguments = {"x_ptr": stored(x, dtype), "xq_ptr": codes, "s_ptr": scales, "M": rows, "K": k, "sxm": k, "sxk": 1, "sqm": k, "sqk": 1,
                 "ssm": k // 32, "ssk": 1}
    types = {name: "i32" for name in arguments}
    types.update(x_ptr=TYPES[dtype], xq_ptr="*fp8e4nv", s_ptr="*u8")
    device.launch(f, (rows // 32, k // 32), arguments, types, {"BLOCK_M": 32}, 4)
    return codes, scales


DEEPSEEK = None  # the check-out


def deepseek_activation(scale_format):
    def run(device, x, dtype):
        f = take(DEEPSEEK / "inference/kernel.py", ["act_quant_kernel"]).act_quant_kernel
        rows, k = x.shape
        codes, scales = numpy.zeros((rows, k), numpy.uint8), numpy.zeros((rows, k // 128), numpy.float32)
        device.launch(f, (rows * k // 128,), {"x_ptr": stored(x, dtype), "y_ptr": codes, "s_ptr": scales},
                      {"x_ptr": TYPES[dtype], "y_ptr": "*fp8e4nv", "s_ptr": "*fp32"}, {"BLOCK_SIZE": 128, "scale_fmt": scale_format}, 4)
        return codes, scales
    return run


kernel("deepseek_fp8_1x128", "DeepSeek-V3 9b4e978")(deepseek_activation(None))
kernel("deepseek_fp8_1x128_ue8m0", "DeepSeek-V3 9b4e978")(deepseek_activation("ue8m0"))


def torchao_block(function, square):
    def run(device, x, dtype):
        f = getattr(take(package("torchao") / "kernel/blockwise_quantization.py", [function]), function)
        rows, k = x.shape
        codes = numpy.zeros((rows, k), numpy.uint8)
        scales = numpy.zeros((rows // 128 if square else rows, k // 128), numpy.float32)
        types = {"x_ptr": TYPES[dtype], "y_ptr": "*fp8e4nv", "s_ptr": "*fp32", "M": "i32", "N": "i32"}
        arguments = {"x_ptr": stored(x, dtype), "y_ptr": codes, "s_ptr": scales, "M": rows, "N": k}
        device.launch(f, (rows // 128, k // 128) if square else (rows * k // 128,), arguments,
                      {n: types[n] for n in f.arg_names if n in types}, {"BLOCK_SIZE": 128}, 4)
        return codes, scales
    return run


kernel("torchao_fp8_1x128_triton", "torchao 0.18.0")(torchao_block("_fp8_blockwise_act_quant_kernel_impl", False))
kernel("torchao_fp8_128x128_triton", "torchao 0.18.0")(torchao_block("_fp8_blockwise_weight_quant_kernel_impl", True))


def torchao_mxfp8(mode):
    def run(device, x, dtype):
        module = take(package("torchao") / "prototype/mx_formats/kernels.py",
                      ["_calculate_reciprocal_scale", "_triton_calculate_scale_rceil", "_triton_calculate_scale_floor", "to_mxfp8_dim0_kernel"])
        rows, k = x.shape
        codes, scales = numpy.zeros((rows, k), numpy.uint8), numpy.zeros((rows, k // 32), numpy.uint8)
        types = {"x_ptr": TYPES[dtype], "output_ptr": "*fp8e4nv", "scale_ptr": "*u8", "n_rows": "i32", "n_cols": "i32"}
        device.launch(module.to_mxfp8_dim0_kernel, (rows // 32, k // 128),
                      {"x_ptr": stored(x, dtype), "output_ptr": codes, "scale_ptr": scales, "n_rows": rows, "n_cols": k}, types,
                      {"ROW_TILE_SIZE": 32, "COL_TILE_SIZE": 128, "SCALE_BLOCK_SIZE": 32, "SCALING_MODE": mode}, 4)
        return codes, scales
    return run


kernel("torchao_mxfp8_e4m3_rceil_triton", "torchao 0.18.0", "bf16")(torchao_mxfp8("rceil"))
kernel("torchao_mxfp8_e4m3_floor_triton", "torchao 0.18.0", "bf16")(torchao_mxfp8("floor"))


def triton_kernels(kind, mode):
    def run(device, x, dtype):
        module = take(source("vllm") / "third_party/triton_kernels/numerics_details/mxfp_details/_downcast_to_mxfp.py",
                      ["_get_max_quant_val", "_compute_quant_and_scale", "_downcast_to_mxfp"])
        rows, k = x.shape
        packed = 2 if kind == "u8" else 1
        codes, scales = numpy.zeros((rows, k // packed), numpy.uint8), numpy.zeros((rows, k // 32), numpy.uint8)
        arguments = {"mx_tensor_ptr": codes, "stride_mxt_outer": k // packed, "mx_scale_ptr": scales, "stride_mx_scale_outer": k // 32,
                     "stride_mx_scale_quant": 1, "src_ptr": stored(x, dtype), "stride_src_outer": k, "stride_src_quant": 1,
                     "outer_dim": rows, "quant_dim": k}
        types = {name: "i32" for name in arguments}
        types.update(mx_tensor_ptr="*" + kind, mx_scale_ptr="*u8", src_ptr=TYPES[dtype])
        device.launch(module._downcast_to_mxfp, (rows // 32, k // 128), arguments, types,
                      {"stride_mxt_quant": 1, "BLOCK_SIZE_OUT_DIM": 32, "BLOCK_SIZE_QUANT_DIM": 128, "DEQUANT_SCALE_ROUNDING_MODE": mode}, 4)
        return codes, scales
    return run


for _name, _kind in (("mxfp4", "u8"), ("mxfp8_e4m3", "fp8e4nv"), ("mxfp8_e5m2", "fp8e5")):
    for _suffix, _mode in (("up", 0), ("down", 1)):
        kernel(f"triton_kernels_{_name}_{_suffix}_triton", "triton_kernels (vLLM 0.33.0)")(triton_kernels(_kind, _mode))


@kernel("compressed_tensors_nvfp4_triton", "compressed-tensors 0.20.1")
def compressed_tensors(device, x, dtype):
    """The kernel takes scales, which torch computes as for compressed_tensors_nvfp4: those come from our recipe."""
    path = package("compressed_tensors") / "compressors/nvfp4/helpers.py"
    f = take(path, ["_quantize_and_pack_fp4_kernel"])._quantize_and_pack_fp4_kernel
    rows, k = x.shape
    ours = quantized("compressed_tensors_nvfp4", x, dtype)
    scales = decode_e4m3(ours["scale"].view(numpy.uint8)).astype(numpy.float32).reshape(rows, k // 16)
    codes, flat = numpy.zeros((rows, k // 2), numpy.uint8), stored(x, dtype)
    arguments = {"packed_ptr": codes, "input_ptr": flat, "scale_ptr": stored(scales, dtype), "zero_point_ptr": flat,
                 "global_scale_ptr": numpy.array([ours["library_scale"]], numpy.float32), "num_rows": rows, "num_cols": k, "group_size": 16}
    types = {name: "i32" for name in arguments}
    types.update(packed_ptr="*u8", input_ptr=TYPES[dtype], scale_ptr=TYPES[dtype], zero_point_ptr=TYPES[dtype], global_scale_ptr="*fp32")
    device.launch(f, (-(-rows * k // 2048),), arguments, types,
                  {"BLOCK_SIZE": 1024, "has_zero_point": False, "has_global_scale": True}, 4)
    return codes, ours["scale"].view(numpy.uint8)


def decode_e4m3(codes):
    exponent, mantissa = (codes >> 3 & 15).astype(int), (codes & 7).astype(int)
    values = numpy.where(exponent == 0, mantissa * 2.0 ** -9, (8 + mantissa) * 2.0 ** (exponent - 10.0))
    return numpy.where(codes & 127 == 127, numpy.nan, values)


PROGRAM = None


def quantized(recipe, x, dtype):
    with tempfile.TemporaryDirectory() as folder:
        bits = stored(x, dtype)
        header = json.dumps({"x": {"dtype": dtype.upper(), "shape": x.shape, "data_offsets": [0, bits.nbytes]}}).encode()
        pathlib.Path(f"{folder}/x").write_bytes(len(header).to_bytes(8, "little") + header + bits.tobytes())
        run = subprocess.run([PROGRAM, "quantize", f"{folder}/x:x", "--recipe", recipe, "-o", f"{folder}/q"], capture_output=True,
                             text=True)
        if run.returncode != 0:
            raise RuntimeError(run.stderr.strip())
        return read(f"{folder}/q")


def read(path):
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    about = header.pop("__metadata__", {})
    tensors = {"library_scale": float(about.get("fp4oracle.library_scale", 0))}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = numpy.frombuffer(data[begin:end], numpy.float32 if entry["dtype"] == "F32" else numpy.uint8)
    return tensors


def make_input(seed, dtype):
    """A third of the groups ordinary, a third short numbers times powers of two, whose quotients are midpoints, and their
    neighbours; amax beside powers of two times 448 and 6; groups of zeros, of tiny and of huge numbers; with even seeds NaN
    and infinities, too."""
    random = numpy.random.default_rng(seed)
    numpy.seterr(over="ignore")
    groups = random.standard_normal((ROWS, COLUMNS // 32, 32)) * numpy.exp2(random.integers(-8, 8, (ROWS, COLUMNS // 32, 1)))
    short = random.integers(-56, 57, groups.shape) / 8.0 * numpy.exp2(random.integers(-12, 9, groups.shape[:2] + (1,)))
    kind = random.integers(0, 12, groups.shape[:2])[..., None]
    groups = numpy.where(kind < 4, short, groups)
    largest = numpy.abs(groups).max(-1, keepdims=True)
    top = random.choice([448.0, 6.0, 57344.0, 1.0, 7.5, 3.0], groups.shape[:2] + (1,)) * numpy.exp2(random.integers(-20, 14, largest.shape))
    groups = numpy.where((kind >= 4) & (kind < 9), groups / numpy.maximum(largest, 1e-30) * top, groups)
    groups = groups.astype(numpy.float32)
    step = random.integers(-2, 3, largest.shape)
    bordered = (numpy.maximum(top, 1e-30).astype(numpy.float32).view(numpy.int32) + (step << (0 if dtype == "f32" else 16 if dtype == "bf16" else 13))
                ).astype(numpy.int32).view(numpy.float32)
    groups[..., :1] = numpy.where((kind >= 4) & (kind < 9), bordered, groups[..., :1])
    groups = numpy.where(kind == 9, numpy.float32(0), groups)
    groups = numpy.where((kind == 10) & (random.integers(0, 2, kind.shape) == 0), groups * numpy.float32(2.0 ** -110), groups)
    groups = numpy.where(kind == 11, groups * numpy.float32(2.0 ** (100 if dtype != "f16" else 3)), groups)
    groups = numpy.where(groups == 0, numpy.where(random.integers(0, 2, groups.shape) == 0, numpy.float32(0), numpy.float32(-0.0)), groups)
    x = groups.reshape(ROWS, COLUMNS).astype(numpy.float32)
    # Whole groups of 128 zeros.
    x.reshape(ROWS, -1, 128)[random.integers(0, 10, (ROWS, COLUMNS // 128)) == 0] = 0
    x = numpy.clip(x, -3e38, 3e38)
    if dtype == "f16":
        x = numpy.clip(x, -60000, 60000).astype(numpy.float16).astype(numpy.float32)
    if dtype == "bf16":
        x = (((x.view(numpy.uint32) + 0x8000) >> 16) << 16).astype(numpy.uint32).view(numpy.float32)
    if seed % 2 == 0:
        odd = random.integers(0, 1500, x.shape)
        for place, number in enumerate((numpy.nan, numpy.inf, -numpy.inf)):
            x = numpy.where(odd == place, numpy.float32(number), x)
        x[5, :128] = numpy.nan
    return x


def canonical(array):
    flat = numpy.ascontiguousarray(array).reshape(-1)
    if flat.dtype == numpy.float32:
        bits = flat.view(numpy.uint32).copy()
        bits[numpy.isnan(flat)] = 0x7FC00000
        return bits
    return flat


def differing(theirs, ours, what, nan_codes):
    a, b = canonical(theirs), canonical(ours)
    if a.size != b.size:
        return a.size, a.size, f"{a.size} {what}, not {b.size}"
    if nan_codes:  # the sign of a NaN
        a, b = numpy.where(a == 0xFF, 0x7F, a), numpy.where(b == 0xFF, 0x7F, b)
    places = numpy.flatnonzero(a != b)
    return a.size, places.size, f"{what} {places[0]}: {a[places[0]]:X}, ours {b[places[0]]:X}" if places.size else ""


def main():
    global PROGRAM, DEEPSEEK
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="0: another one each time")
    parser.add_argument("--kernel", default="", help="those whose name has this part")
    parser.add_argument("--capability", type=int, default=120)
    parser.add_argument("--deepseek", type=pathlib.Path)
    parser.add_argument("--record", type=pathlib.Path)
    options = parser.parse_args()
    PROGRAM, DEEPSEEK = options.program, options.deepseek
    device = Device(options.capability)
    first = options.first or int.from_bytes(os.urandom(3), "little")
    seeds = range(first, first + options.seeds)
    print(f"seeds {seeds[0]} to {seeds[-1]}, {ROWS} x {COLUMNS} numbers each; Triton {triton.__version__} for sm_{options.capability}")
    bad = total = failed = 0
    for name, (library, dtypes, recipe, run) in KERNELS.items():
        if options.kernel not in name:
            continue
        if "DeepSeek" in library and DEEPSEEK is None:
            print(f"{name:42s} left out: no --deepseek")
            continue
        for dtype in dtypes:
            counted, different, place, results = 0, 0, "", {}
            for seed in seeds:
                x = make_input(seed, dtype)
                try:
                    codes, scales = run(device, x, dtype)
                except Exception as reason:  # a package that is not there, an instruction that a capability lacks
                    place, failed = f"not run: {str(reason).strip().splitlines()[0][:90]}", failed + 1
                    break
                if options.record:
                    results.update({f"q.s{seed}": codes, f"sf.s{seed}": scales})
                try:
                    ours = quantized(recipe, x, dtype)
                except RuntimeError as reason:
                    place = str(reason)
                    continue
                for what, theirs, mine in (("codes", codes, ours["codes"]), ("scale", scales, ours["scale"])):
                    count, wrong, where = differing(theirs, mine, what, what == "codes" and codes.size == x.size)
                    counted, different, place = counted + count, different + wrong, place or (where and f"seed {seed}, {where}")
            bad, total = bad + (different != 0), total + counted
            print(f"{name:42s} {dtype:5s} {library}: {different} of {counted} differ {place}", flush=True)
            if options.record and results:
                about = {"library": library, "dtype_fed": dtype, "inputs": f"inputs.triton.{dtype}.safetensors",
                         "executed": f"its Triton kernel, compiled by Triton {triton.__version__} for sm_{options.capability} and executed on the "
                                     "virtual GPU (no GPU)"}
                save_file(results, options.record / f"triton.{name}.{dtype}.safetensors", about)
    if options.record:
        for dtype in TYPES:
            save_file({f"x.s{seed}": make_input(seed, dtype) for seed in seeds}, options.record / f"inputs.triton.{dtype}.safetensors",
                      {"made by": "tools/recipes_live/triton_quantisers.py", "dtype": dtype})
    print(f"{total} codes and scales, {bad} comparisons with a difference, {failed} not run")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
