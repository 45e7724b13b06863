# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""Compiles a block-scaled GEMM of Triton's tl.dot_scaled to PTX, without a GPU and without torch.

usage: scaled_gemm.py FOLDER [120 | 100]    writes FOLDER/{nvfp4,mxfp4,mxfp8,mxfp8_mxfp4}.ptx and .json, which
                                            `fp4oracle run --kernel` takes, for sm_120a or sm_100a

D (M x N, f32) = alpha * A (M x K) * B (N x K)^T; any M and N, K a multiple of 128; codes and scales as checkpoints store
them. The JSON describes the launch: docs/plugins.md, "A PTX file or a cubin"."""
import json
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TILE, STEP = 128, 128


@triton.jit
def scaled_gemm(a, sa, b, sb, d, alpha, M, N, K, a_line, b_line, d_line, TILE: tl.constexpr, STEP: tl.constexpr,
                BLOCK: tl.constexpr, A_PACKED: tl.constexpr, B_PACKED: tl.constexpr, A_FORMAT: tl.constexpr,
                B_FORMAT: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    # Rows beyond the last one read the last one's; what comes of them is not stored.
    x_rows, y_rows = tl.minimum(rows, M - 1), tl.minimum(columns, N - 1)
    x_bytes, y_bytes = tl.arange(0, STEP // A_PACKED), tl.arange(0, STEP // B_PACKED)
    blocks = tl.arange(0, STEP // BLOCK)
    acc = tl.zeros((TILE, TILE), dtype=tl.float32)
    for k in range(0, K, STEP):
        x = tl.load(a + x_rows[:, None] * a_line + (k // A_PACKED + x_bytes)[None, :])
        y = tl.load(b + y_rows[None, :] * b_line + (k // B_PACKED + y_bytes)[:, None])
        u = tl.load(sa + x_rows[:, None] * (K // BLOCK) + (k // BLOCK + blocks)[None, :])
        v = tl.load(sb + y_rows[:, None] * (K // BLOCK) + (k // BLOCK + blocks)[None, :])
        acc = tl.dot_scaled(x, u, A_FORMAT, y, v, B_FORMAT, acc)
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(d + rows[:, None] * d_line + columns[None, :], acc * alpha, mask=inside)


# Triton's type of the codes, elements of a byte, and its name of the element, which is the emulator's, too.
E2M1, E4M3 = ("*u8", 2, "e2m1"), ("*fp8e4nv", 1, "e4m3")
FORMATS = {
    # name: A, B, Triton's type of the scales, elements of a scale, the emulator's name of it, and the instruction's, after
    # which its model is called
    "nvfp4": (E2M1, E2M1, "*fp8e4nv", 16, "ue4m3", "mxf4nvf4"),
    "mxfp4": (E2M1, E2M1, "*u8", 32, "ue8m0", "mxf4"),
    "mxfp8": (E4M3, E4M3, "*u8", 32, "ue8m0", "mxf8f6f4"),
    "mxfp8_mxfp4": (E4M3, E2M1, "*u8", 32, "ue8m0", "mxf8f6f4"),
}


def compile_kernel(capability, a, b, scale, block):
    constants = {"TILE": TILE, "STEP": STEP, "BLOCK": block, "A_PACKED": a[1], "B_PACKED": b[1], "A_FORMAT": a[2],
                 "B_FORMAT": b[2]}
    signature = {"a": a[0], "sa": scale, "b": b[0], "sb": scale, "d": "*fp32", "alpha": "fp32"}
    signature.update({key: "i32" for key in ("M", "N", "K", "a_line", "b_line", "d_line")})
    signature.update({key: "constexpr" for key in constants})
    source = ASTSource(fn=scaled_gemm, signature=signature, constexprs=constants)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": 4, "num_stages": 2})


def description(name, capability, metadata, a, b, block, scale, instruction):
    scales = {"scale": scale, "scale_rows": 1, "scale_k": block}
    kernel = {
        "name": f"triton/{name}",
        "summary": f"tl.dot_scaled, tile {TILE}x{TILE}x{STEP}",
        "source": f"Triton {triton.__version__}",
        "entry": metadata.name,
        "a": {"element": a[2], **scales}, "b": {"element": b[2], **scales}, "d": "f32", "alpha": "host", "any_line": 1, "k_multiple": STEP,
        "native": [capability, capability + (1 if capability == 120 else 3)],
        "grid": [f"ceil(m, {TILE})", f"ceil(n, {TILE})"],
        "block": [32 * metadata.num_warps],
        "shared": str(metadata.shared),
        # Triton adds two addresses of scratch memory, which this kernel does not use.
        "arguments": ["a", "a_scale", "b", "b_scale", "d", {"f32": "alpha"}, {"i32": "m"}, {"i32": "n"}, {"i32": "k"},
                      {"i32": "a_line"}, {"i32": "b_line"}, {"i32": "d_line / 4"}, "null", "null"],
    }
    if (name, capability) != ("mxfp8_mxfp4", 120):  # that one becomes bf16 instructions: docs/errata.md
        kernel["order"] = {"models": f"sm{capability}_{instruction}"}
    return {"module": f"{name}.ptx", "kernels": [kernel]}


def main():
    folder, capability = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 120
    for name, (a, b, scale, block, our_scale, instruction) in FORMATS.items():
        compiled = compile_kernel(capability, a, b, scale, block)
        with open(f"{folder}/{name}.ptx", "w") as out:
            out.write(compiled.asm["ptx"])
        with open(f"{folder}/{name}.json", "w") as out:
            json.dump(description(name, capability, compiled.metadata, a, b, block, our_scale, instruction), out, indent=1)
        print(f"{folder}/{name}.json")


main()
