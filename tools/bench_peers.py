# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""What numpy with ml_dtypes, torch and torchao take to quantise the same numbers: the child process of
`fp4oracle bench --recipe` (tools/bench_peers.c, which carries this file), which asks a line at a time.

arguments: FILE ROWS K THREADS      FILE: f32, row after row
first line out: {library: version, ...}, or {"missing": why} where there is nothing to compare with
a line in:  RECIPE ELEMENT SCALE BLOCK_ROWS BLOCK_K REPEAT      a block size of 0: all
a line out: {library: seconds of the fastest run, ...}

ml_dtypes and torch: amax, scale and cast as a library built from them has it, without packing: less than a recipe.
torchao: its own quantiser, for the recipes that are named after it.
"""
import sys

sys.path[:] = [folder for folder in sys.path if folder]  # not what lies in the caller's folder
import json  # noqa: E402
import os  # noqa: E402
import time  # noqa: E402

LARGEST = {"e2m1": 6, "e2m3": 7.5, "e3m2": 28, "e4m3": 448, "e5m2": 57344}
LARGEST_EXPONENT = {"e2m1": 2, "e2m3": 2, "e3m2": 4, "e4m3": 8, "e5m2": 15}
PATIENCE = 2  # seconds for a quantiser, after its first run


def ml_dtypes_job(numpy, ml_dtypes, x, element, scale):
    types = {"e2m1": "float4_e2m1fn", "e2m3": "float6_e2m3fn", "e3m2": "float6_e3m2fn", "e4m3": "float8_e4m3fn",
             "e5m2": "float8_e5m2"}
    if element not in types:
        return None
    dtype = getattr(ml_dtypes, types[element])

    def amax():
        return numpy.abs(x).max(axis=(1, 3), keepdims=True)

    def f32():
        s = amax() / numpy.float32(LARGEST[element])
        return (x / s).astype(dtype), s

    def ue8m0():
        s = numpy.ldexp(numpy.float32(1), numpy.frexp(amax())[1] - 1 - LARGEST_EXPONENT[element])
        return (x / s).astype(dtype), s.astype(ml_dtypes.float8_e8m0fnu)

    def ue4m3():
        tensor = numpy.abs(x).max() / numpy.float32(448 * LARGEST[element])
        s = (amax() / numpy.float32(LARGEST[element]) / tensor).astype(ml_dtypes.float8_e4m3fn)
        return (x / (s.astype(numpy.float32) * tensor)).astype(dtype), s

    return {"f32": f32, "ue8m0": ue8m0, "ue4m3": ue4m3}.get(scale)


def torch_job(torch, x, element, scale):
    types = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}  # it casts to no other
    if element not in types:
        return None
    dtype = getattr(torch, types[element])

    def f32():
        s = x.abs().amax(dim=(1, 3), keepdim=True) / LARGEST[element]
        return (x / s).to(dtype), s

    def ue8m0():
        exponent = torch.frexp(x.abs().amax(dim=(1, 3), keepdim=True))[1] - 1 - LARGEST_EXPONENT[element]
        s = torch.ldexp(torch.ones(()), exponent)
        return (x / s).to(dtype), s.to(torch.float8_e8m0fnu)

    return {"f32": f32, "ue8m0": ue8m0}.get(scale)


def torchao_job(torch, t, recipe):
    from torchao.prototype.mx_formats.config import ScaleCalculationMode
    from torchao.prototype.mx_formats.mx_tensor import to_mx
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale

    floor = ScaleCalculationMode.FLOOR
    return {"torchao_mxfp8_e4m3_floor": lambda: to_mx(t, torch.float8_e4m3fn, 32, floor),
            "torchao_mxfp4_floor": lambda: to_mx(t, torch.float4_e2m1fn_x2, 32, floor),
            "torchao_nvfp4": lambda: nvfp4_quantize(t, 16, per_tensor_amax_to_scale(t.abs().max()))}.get(recipe)


def fastest(job, repeat):
    job()
    least, begin = None, time.perf_counter()
    for _ in range(repeat):
        start = time.perf_counter()
        job()
        end = time.perf_counter()
        least = end - start if least is None else min(least, end - start)
        if end - begin > PATIENCE:
            break
    return least


def imported(name):
    """None where it is not installed, or where its own parts are not."""
    try:
        return __import__(name)
    except Exception:
        return None


def answer(libraries, x, request):
    recipe, element, scale, block_rows, block_k, repeat = request.split()
    rows, k = x.shape
    block_rows, block_k = int(block_rows) or rows, int(block_k) or k
    seconds = {}
    if rows % block_rows == 0 and k % block_k == 0:
        blocks = x.reshape(rows // block_rows, block_rows, k // block_k, block_k)
        torch = libraries.get("torch")
        jobs = {}
        if "ml_dtypes" in libraries:
            jobs["ml_dtypes"] = ml_dtypes_job(libraries["numpy"], libraries["ml_dtypes"], blocks, element, scale)
        if torch is not None:
            jobs["torch"] = torch_job(torch, torch.from_numpy(blocks), element, scale)
        if torch is not None and recipe.startswith("torchao_") and imported("torchao") is not None:
            jobs["torchao"] = torchao_job(torch, torch.from_numpy(x), recipe)
        for name, job in jobs.items():
            if job is not None:
                seconds[name] = fastest(job, int(repeat))
    return seconds


def main():
    path, rows, k, threads = sys.argv[1], *map(int, sys.argv[2:5])
    os.environ["OMP_NUM_THREADS"] = str(threads)
    # What the libraries say goes elsewhere: this is the answers' channel alone.
    say = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    libraries = {name: imported(name) for name in ("numpy", "ml_dtypes", "torch")}
    libraries = {name: module for name, module in libraries.items() if module is not None}
    if "numpy" not in libraries or len(libraries) == 1:
        print(json.dumps({"missing": "neither ml_dtypes nor torch with numpy"}), file=say)
        return
    if "torch" in libraries:
        libraries["torch"].set_num_threads(threads)
    x = libraries["numpy"].fromfile(path, dtype="<f4").reshape(rows, k)
    print(json.dumps({name: module.__version__ for name, module in libraries.items()}), file=say)
    libraries["numpy"].seterr(all="ignore")
    for request in sys.stdin:
        try:
            print(json.dumps(answer(libraries, x, request)), file=say)
        except Exception as reason:  # one quantiser less, not the end of the others
            print(json.dumps({"failed": str(reason)[:200]}), file=say)


main()
