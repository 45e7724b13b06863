# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""The libraries' quantisers under the names of our recipes: each returns codes and scales as numpy arrays.

Codes of 4 bits are packed as our files pack them, others one a byte; scales are bytes, or f32. A library that cannot be
imported takes its recipes with it, and the reason is printed.
"""
import ast
import importlib
import pathlib
import sys
import types

import numpy
import torch

RECIPES = {}   # name: (library, function of x)
MISSING = {}   # library: reason
E2M1 = torch.tensor([0, .5, 1, 1.5, 2, 3, 4, 6])


def raw(tensor):
    """The bytes of a tensor, whatever its dtype; f32 stays f32."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype in (torch.bfloat16, torch.float16, torch.float64):
        tensor = tensor.float()
    if tensor.dtype == torch.float32:
        return tensor.numpy()
    return tensor.view(torch.uint8).numpy()


def pack(codes):
    codes = numpy.asarray(codes, dtype=numpy.uint8)
    return codes[..., 0::2] | codes[..., 1::2] << 4


def library(name):
    def decorate(function):
        try:
            for recipe, run in function().items():
                RECIPES[recipe] = (name, run)
        except Exception as reason:  # whatever an import may raise
            MISSING[name] = f"{type(reason).__name__}: {reason}"
        return function
    return decorate


def pick(path, names, namespace):
    """Definitions of a file without what it imports."""
    tree = ast.parse(pathlib.Path(path).read_text())
    wanted = []
    for node in tree.body:
        targets = [t.id for t in getattr(node, "targets", []) if isinstance(t, ast.Name)]
        if getattr(node, "name", None) in names or set(targets) & set(names):
            wanted.append(node)
    exec(compile(ast.Module(wanted, []), str(path), "exec"), namespace)
    return types.SimpleNamespace(**namespace)


def bare_package(name, folder):
    """A package without its __init__."""
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    sys.modules[name] = module


def site(package):
    return pathlib.Path(next(p for p in sys.path if (pathlib.Path(p) / package).is_dir())) / package


def source(name):
    return pathlib.Path(sys.prefix) / "source" / name


@library("torchao 0.18.0")
def torchao():
    from torchao.prototype.mx_formats.config import ScaleCalculationMode as Mode
    from torchao.prototype.mx_formats.constants import DTYPE_FP6_E2M3, DTYPE_FP6_E3M2
    from torchao.prototype.mx_formats.mx_tensor import to_mx
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale
    from torchao.quantization.quant_primitives import _choose_scale_float8, _quantize_affine_float8

    recipes = {}

    def mx(dtype, mode):
        def run(x):
            scale, data = to_mx(x, dtype, 32, mode)
            return raw(data), raw(scale)
        return run

    for name, dtype in (("mxfp4", torch.float4_e2m1fn_x2), ("mxfp6_e2m3", DTYPE_FP6_E2M3),
                        ("mxfp6_e3m2", DTYPE_FP6_E3M2), ("mxfp8_e4m3", torch.float8_e4m3fn),
                        ("mxfp8_e5m2", torch.float8_e5m2)):
        for mode in (Mode.FLOOR, Mode.CEIL, Mode.EVEN, Mode.RCEIL):
            recipes[f"torchao_{name}_{mode.name.lower()}"] = mx(dtype, mode)

    def nvfp4(tensor_scale):
        def run(x):
            scale, data = nvfp4_quantize(x, 16, per_tensor_amax_to_scale(x.abs().max()) if tensor_scale else None)
            return raw(data), raw(scale)
        return run

    def fp8(block):
        def run(x):
            scale = _choose_scale_float8(x, float8_dtype=torch.float8_e4m3fn, block_size=block(x))
            return raw(_quantize_affine_float8(x, scale, torch.float8_e4m3fn)), raw(scale)
        return run

    recipes["torchao_nvfp4"] = nvfp4(True)
    recipes["torchao_nvfp4_no_tensor_scale"] = nvfp4(False)
    recipes["torchao_fp8_row"] = fp8(lambda x: (1, x.shape[1]))
    recipes["torchao_fp8_tensor"] = fp8(lambda x: tuple(x.shape))
    recipes["torchao_fp8_1x128"] = fp8(lambda x: (1, 128))
    recipes["torchao_fp8_128x128"] = fp8(lambda x: (128, 128))
    return recipes


@library("compressed-tensors 0.20.1")
def compressed_tensors():
    from compressed_tensors.compressors.base import BaseCompressor  # noqa: F401
    from compressed_tensors.compressors.mxfp4 import MXFP4PackedCompressor
    from compressed_tensors.compressors.mxfp8 import MXFP8QuantizationCompressor
    from compressed_tensors.compressors.naive_quantized import FloatQuantizationCompressor
    from compressed_tensors.compressors.nvfp4 import NVFP4PackedCompressor
    from compressed_tensors.quantization import preset_name_to_scheme
    from compressed_tensors.quantization.lifecycle.forward import quantize
    from compressed_tensors.quantization.utils import calculate_qparams, compute_dynamic_scales_and_zp, generate_gparam

    def blocks(x, group):
        parts = x.reshape(x.shape[0], -1, group)
        return parts.amin(-1), parts.amax(-1)

    def compress(compressor, preset, x, low, high, g=None):
        scheme = preset_name_to_scheme(preset, ["Linear"])
        scale, _ = calculate_qparams(low, high, scheme.weights, global_scale=g)
        state = {"weight": x, "weight_scale": scale}
        if g is not None:
            state["weight_global_scale"] = g
        state = compressor.compress(state, scheme)
        return raw(state.get("weight_packed", state.get("weight"))), raw(state["weight_scale"])

    def nvfp4(x):
        low, high = blocks(x, 16)
        return compress(NVFP4PackedCompressor, "NVFP4", x, low, high, generate_gparam(x.min(), x.max()))

    def tiles(x):
        parts = x.reshape(x.shape[0] // 128, 128, x.shape[1] // 128, 128)
        return parts.amin((1, 3)), parts.amax((1, 3))

    fp8 = torch.float8_e4m3fn

    def activations(preset, g=lambda x: None, dtype=None):
        """Dynamic ones, as a forward pass has them: three dimensions (of two, strategy "token" makes one scale)."""
        arguments = preset_name_to_scheme(preset, ["Linear"]).input_activations

        def run(x):
            x, scale_of_all = x[None], g(x)
            scale, zero = compute_dynamic_scales_and_zp(x, arguments, None, global_scale=scale_of_all)
            codes = quantize(x, scale, zero, arguments, dtype=dtype, global_scale=scale_of_all)[0]
            if dtype is None:  # numbers of e2m1
                codes = pack((abs(codes.float())[..., None] == E2M1).int().argmax(-1).numpy() | torch.signbit(codes).numpy() * 8)
            else:
                codes = raw(codes)
            if "MX" in preset:
                return codes, (scale[0].float().view(torch.int32) >> 23).to(torch.uint8).numpy()
            return codes, raw(scale[0].to(fp8) if "NV" in preset else scale[0])
        return run

    return {
        "compressed_tensors_nvfp4 (activations)": activations("NVFP4", lambda x: generate_gparam(x.min(), x.max())),
        "compressed_tensors_mxfp4 (activations)": activations("MXFP4"),
        "compressed_tensors_mxfp8_dynamic": activations("MXFP8", dtype=fp8),
        "compressed_tensors_fp8_token": activations("FP8_DYNAMIC", dtype=fp8),
        "compressed_tensors_fp8_group128": activations("FP8_BLOCK", dtype=fp8),
        "compressed_tensors_nvfp4": nvfp4,
        "compressed_tensors_mxfp4": lambda x: compress(MXFP4PackedCompressor, "MXFP4", x, *blocks(x, 32)),
        "compressed_tensors_mxfp8": lambda x: compress(MXFP8QuantizationCompressor, "MXFP8", x, *blocks(x, 32)),
        "compressed_tensors_fp8_tensor": lambda x: compress(FloatQuantizationCompressor, "FP8", x, x.min(), x.max()),
        "compressed_tensors_fp8_channel":
            lambda x: compress(FloatQuantizationCompressor, "FP8_DYNAMIC", x, x.amin(1, keepdim=True), x.amax(1, keepdim=True)),
        "compressed_tensors_fp8_block": lambda x: compress(FloatQuantizationCompressor, "FP8_BLOCK", x, *tiles(x)),
    }


@library("modelopt 0.47.0")
def modelopt():
    from modelopt.torch.quantization.qtensor import FP8QTensor, MXFP4QTensor, NVFP4QTensor
    from modelopt.torch.quantization.qtensor.mxfp8_tensor import MXFP8QTensor

    def data(result):
        return raw(result._quantized_data)

    def nvfp4(x):
        result, scale, _ = NVFP4QTensor.quantize(x, 16)
        return data(result), raw(scale)

    def mxfp4(x):
        result, scale = MXFP4QTensor.quantize(x, 32)
        return data(result), raw(scale)

    def mxfp8(x):
        result, scale = MXFP8QTensor.quantize(x)
        return data(result), raw(scale)

    def fp8(**arguments):
        def run(x):
            result, scale = FP8QTensor.quantize(x, **arguments)
            return data(result), raw(scale)
        return run

    return {"modelopt_nvfp4": nvfp4, "modelopt_mxfp4": mxfp4, "modelopt_mxfp8": mxfp8, "modelopt_fp8_tensor": fp8(),
            "modelopt_fp8_channel": fp8(axis=0), "modelopt_fp8_block": fp8(block_sizes={-1: 128, -2: 128})}


def deep_gemm_casts(path, prefix):
    module = types.ModuleType("deep_gemm_math")
    exec(compile(pathlib.Path(path).read_text(), str(path), "exec"), module.__dict__)

    def fp8(function, **arguments):
        def run(x):
            codes, scale = getattr(module, function)(x, **arguments)
            return raw(codes), raw(scale)
        return run

    def powers(function, **arguments):
        def run(x):
            codes, scale = getattr(module, function)(x, use_ue8m0=True, **arguments)
            return raw(codes), (raw(scale).view(numpy.uint32) >> 23).astype(numpy.uint8)
        return run

    return {prefix + "fp8_1x128": fp8("per_token_cast_to_fp8", use_ue8m0=False),
            prefix + "fp8_1x32": fp8("per_token_cast_to_fp8", use_ue8m0=False, gran_k=32),
            prefix + "fp8_1x128_ue8m0": powers("per_token_cast_to_fp8"),
            prefix + "fp8_1x32_ue8m0": powers("per_token_cast_to_fp8", gran_k=32),
            prefix + "fp8_128x128": fp8("per_block_cast_to_fp8", use_ue8m0=False),
            prefix + "fp8_128x128_ue8m0": powers("per_block_cast_to_fp8"),
            prefix + "fp4_1x128": fp8("per_token_cast_to_fp4", use_ue8m0=False),
            prefix + "fp4_1x32_ue8m0": powers("per_token_cast_to_fp4", gran_k=32)}


@library("sgl-deep-gemm 0.2.5")
def deep_gemm():
    return deep_gemm_casts(site("deep_gemm") / "utils" / "math.py", "deepgemm_")


@library("FlashInfer 0.7.4 (torch reference)")
def flashinfer():
    root = site("flashinfer")
    for name in ("flashinfer", "flashinfer.batch_invariant", "flashinfer.batch_invariant.quantization"):
        bare_package(name, root.joinpath(*name.split(".")[1:]))
    mx = importlib.import_module("flashinfer.batch_invariant.quantization.mx_reference")
    spec = importlib.import_module("flashinfer.batch_invariant.quantization.mx_spec")
    nvfp4 = importlib.import_module("flashinfer.batch_invariant.quantization.nvfp4_reference")

    def block(fmt, rule):
        def run(x):
            codes, _, scale = mx.quantize_mx_reference(x, fmt, rule)
            return raw(codes), raw(scale)
        return run

    def run_nvfp4(x):
        codes, scale, _ = nvfp4.quantize_reference(x, 448 * 6 / x.float().abs().max())
        return raw(codes), raw(nvfp4.unswizzle_sf_128x4(scale, x.shape[0], x.shape[1]))

    recipes = {"flashinfer_reference_nvfp4": run_nvfp4}
    for rule, suffix in ((spec.DEFAULT_RULE, ""), (spec.OCP_FLOOR_RULE, "_floor"), (spec.TE_FMA_RULE, "_te_fma")):
        recipes["flashinfer_reference_mxfp4" + suffix] = block(spec.MXFP4, rule)
        recipes["flashinfer_reference_mxfp8" + suffix] = block(spec.MXFP8, rule)
    return recipes


@library("vLLM 0.33.0 (torch functions)")
def vllm():
    root = source("vllm") / "model_executor/layers/quantization"
    names = {"torch": torch, "scalar_types": types.SimpleNamespace(float4_e2m1f=types.SimpleNamespace(max=lambda: 6.0))}
    emulation = pick(root / "utils/nvfp4_emulation_utils.py",
                     ("ref_nvfp4_quant", "cast_to_fp4", "get_reciprocal", "FLOAT4_E2M1_MAX", "FLOAT4_E2M1_MAX_RECIPROCAL"), names)
    mxfp8 = pick(root / "utils/mxfp8_utils.py", ("_mxfp8_e4m3_quantize_torch", "MXFP8_BLOCK_SIZE", "MXFP8_VALUE_DTYPE"),
                 {"torch": torch})

    def run_nvfp4(x):
        values, scale = emulation.ref_nvfp4_quant(x, (448 * 6 / x.float().abs().max()).reshape(1), 16)
        codes = torch.bucketize(values.abs(), E2M1) | (torch.signbit(values).to(torch.int64) << 3)
        return pack(codes.numpy()), raw(scale.to(torch.float8_e4m3fn))

    def run_mxfp8(x):
        codes, scale = mxfp8._mxfp8_e4m3_quantize_torch(x)
        return raw(codes), raw(scale)

    return {"vllm_reference_nvfp4": run_nvfp4, "vllm_mxfp8_torch": run_mxfp8}


@library("triton_kernels in vLLM 0.33.0 (torch functions)")
def triton_kernels():
    root = source("vllm") / "third_party/triton_kernels"
    bare_package("triton_kernels", root)
    bare_package("triton_kernels.numerics_details", root / "numerics_details")
    mxfp = importlib.import_module("triton_kernels.numerics_details.mxfp")
    recipes = {}

    def run(dtype, mode):
        def quantize(x):
            codes, scale = mxfp.downcast_to_mxfp_torch(x, dtype, 1, mode)
            return raw(codes), raw(scale)
        return quantize

    for name, dtype in (("mxfp4", torch.uint8), ("mxfp8_e4m3", torch.float8_e4m3fn), ("mxfp8_e5m2", torch.float8_e5m2)):
        for suffix, mode in (("up", "ROUND_UP"), ("down", "ROUND_DOWN")):
            recipes[f"triton_kernels_{name}_{suffix}"] = run(dtype, mxfp.DequantScaleRoundingMode[mode])
    return recipes


@library("TransformerEngine 2.20.2 (Python reference)")
def transformer_engine():
    root = site("transformer_engine")
    for name in ("transformer_engine", "transformer_engine.pytorch", "transformer_engine.pytorch.custom_recipes",
                 "transformer_engine.pytorch.tensor"):
        bare_package(name, root.joinpath(*name.split(".")[1:]))
    tensor = types.ModuleType("transformer_engine.pytorch.quantized_tensor")

    class Quantizer:
        def __init__(self, *, rowwise, columnwise):
            self.rowwise_usage, self.columnwise_usage = rowwise, columnwise

    tensor.Quantizer, tensor.QuantizedTensorStorage = Quantizer, type("QuantizedTensorStorage", (), {})
    sys.modules[tensor.__name__] = tensor
    utils = types.ModuleType("transformer_engine.pytorch.tensor.utils")
    utils.is_custom = lambda *_: True
    sys.modules[utils.__name__] = utils
    reference = importlib.import_module("transformer_engine.pytorch.custom_recipes.reference_nvfp4")
    formats = importlib.import_module("transformer_engine.pytorch.custom_recipes.reference_utils").Fp4Formats

    def run(**arguments):
        def quantize(x):
            result = reference.NVFP4QuantizerRef(formats.E2M1, columnwise=False, **arguments).quantize(x)
            return raw(result.data), raw(result.scale)
        return quantize

    return {"te_reference_nvfp4": run(), "te_reference_nvfp4_4over6_448_mae": run(nvfp4_use_4over6=True),
            "te_reference_nvfp4_4over6_256_mse": run(nvfp4_use_4over6=True, nvfp4_e4m3_max=256, nvfp4_4over6_err_mode="MSE"),
            "te_reference_nvfp4_row_scaled": run(row_scaled_nvfp4=True)}


@library("fouroversix 1.0.5")
def fouroversix():
    root = next(source(".").glob("fouroversix-*/src/fouroversix"))
    for name in ("fouroversix", "fouroversix.quantize", "fouroversix.quantize.pytorch"):
        bare_package(name, root.joinpath(*name.split(".")[1:]))
    module = importlib.import_module("fouroversix.quantize.pytorch.reference")
    kinds = importlib.import_module("fouroversix.utils")

    def run(fmt, rule):
        def quantize(x):
            result = module.quantize_to_fp4(x, fp4_format=getattr(kinds.DataType, fmt), scale_rule=getattr(kinds.ScaleRule, rule),
                                            use_blackwell_scale_layout=False)
            return raw(result[0]), raw(result[1])
        return quantize

    recipes = {f"fouroversix_nvfp4_{rule}": run("nvfp4", rule) for rule in ("static_6", "static_4", "mse", "mae", "abs_max")}
    return recipes


@library("SGLang 0.5.23 (torch functions)")
def sglang():
    root = site("sglang") / "srt/layers/quantization"
    names = ("MXFP4QuantizeUtil",)
    from typing import Optional
    util = pick(root / "mxfp4_tensor.py", names, {"torch": torch, "Optional": Optional})

    def construct(self, *arguments):  # the class has no constructor
        self.data = arguments[-1]

    def mxfp4(x):
        util.MXFP4QuantizeUtil.__init__ = construct
        result, scale = util.MXFP4QuantizeUtil.quantize(x, 32)
        return raw(result.data), raw(scale)

    return {"sglang_mxfp4": mxfp4}


def microxcaling(folder):
    """Its functions return numbers; codes are those numbers in units of the scale, seen before they are multiplied by it."""
    sys.path.insert(0, str(folder))
    try:
        ops = importlib.import_module("mx.mx_ops")
    except Exception as reason:
        MISSING["microxcaling 7bc4195"] = f"{type(reason).__name__}: {reason}"
        return
    import ml_dtypes

    seen = []
    core = ops._quantize_elemwise_core

    def watched(*arguments, **keywords):
        seen.append(core(*arguments, **keywords))
        return seen[-1].clone()

    ops._quantize_elemwise_core = watched

    def run(name, dtype, emax):
        def quantize(x):
            x = x.float()
            shared = ops._shared_exponents(x.reshape(x.shape[0], -1, 32), method="max", axes=[-1], ebits=0)
            exponent = (shared - emax).clamp(min=-127)
            seen.clear()
            ops._quantize_mx(x, 8, name, block_size=32, axes=[-1], round="nearest", custom_cuda=False)
            codes = seen[0].numpy().astype(dtype).view(numpy.uint8).reshape(x.shape)
            scale = (exponent + 127).to(torch.uint8).reshape(x.shape[0], -1).numpy()
            return (pack(codes & 15) if dtype == ml_dtypes.float4_e2m1fn else codes), scale
        return quantize

    for recipe, name, dtype, emax in (("mxfp4", "fp4_e2m1", ml_dtypes.float4_e2m1fn, 2),
                                      ("mxfp6_e2m3", "fp6_e2m3", ml_dtypes.float6_e2m3fn, 2),
                                      ("mxfp6_e3m2", "fp6_e3m2", ml_dtypes.float6_e3m2fn, 4),
                                      ("mxfp8_e4m3", "fp8_e4m3", ml_dtypes.float8_e4m3fn, 8),
                                      ("mxfp8_e5m2", "fp8_e5m2", ml_dtypes.float8_e5m2, 15)):
        RECIPES["microxcaling_" + recipe] = ("microxcaling 7bc4195", run(name, dtype, emax))
