#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Runs rows of docs/steps-format.md on this machine's GPU, each as one tensor-core instruction.

    tools/steps_on_gpu.py [--arch 90a] [--build-only] OUT FILE...   each FILE, with d, to the folder OUT
    tools/steps_on_gpu.py --list

A file's metadata `instruction` names the instruction: one of --list. tools/steps_make.py makes such files. Needs nvcc
and numpy. Seen to work on an H200. The instructions of sm_120a compile; nobody has run them here.
"""
import argparse
import concurrent.futures
import json
import os
import struct
import subprocess
import sys
import tempfile
from typing import NamedTuple

import numpy as np

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "steps_on_gpu.cu")
CELLS = {"U8": np.uint8, "U16": np.uint16, "U32": np.uint32}
BITS = {"e2m1": 4, "e2m3": 6, "e3m2": 6, "e4m3": 8, "e5m2": 8, "f16": 16, "bf16": 16, "f32": 32}


class Instruction(NamedTuple):
    ptx: str
    a: str
    b: str
    d: str
    k: int
    arch: tuple  # architectures that have it
    scale: str = "none"
    block: int = 0


def instructions():
    """Name: instruction."""
    table = {}
    fp8, narrow = ("e4m3", "e5m2"), ("e2m1", "e2m3", "e3m2", "e4m3", "e5m2")
    for d in ("f32", "f16"):
        for a in fp8:
            for b in fp8:
                table[f"wgmma_{d}_{a}_{b}"] = Instruction(
                    f"wgmma.mma_async.sync.aligned.m64n8k32.{d}.{a}.{b}", a, b, d, 32, ("90a",))
                for k in (16, 32):
                    table[f"mma_m16n8k{k}_{d}_{a}_{b}"] = Instruction(
                        f"mma.sync.aligned.m16n8k{k}.row.col.{d}.{a}.{b}.{d}", a, b, d, k, ("89", "90a", "100a", "120a"))
        for a in narrow:
            for b in narrow:
                table[f"f8f6f4_{d}_{a}_{b}"] = Instruction(
                    f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.{d}.{a}.{b}.{d}", a, b, d, 32, ("120a",))
    for d, a in (("f32", "f16"), ("f16", "f16"), ("f32", "bf16"), ("f32", "tf32")):
        bits, stored = (8, "f32") if a == "tf32" else (16, a)
        table[f"wgmma_{d}_{a}_{a}"] = Instruction(
            f"wgmma.mma_async.sync.aligned.m64n8k{bits}.{d}.{a}.{a}", stored, stored, d, bits, ("90a",))
        for k in (bits // 2, bits):
            table[f"mma_m16n8k{k}_{d}_{a}_{a}"] = Instruction(
                f"mma.sync.aligned.m16n8k{k}.row.col.{d}.{a}.{a}.{d}", stored, stored, d, k,
                ("80", "89", "90a", "100a", "120a"))
    for a in narrow:
        for b in narrow:
            table[f"mxf8f6f4_{a}_{b}"] = Instruction(
                f"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.{a}.{b}.f32.ue8m0",
                a, b, "f32", 32, ("120a",), "ue8m0", 32)
    for kind, vector, scale in (("mxf4", 2, "ue8m0"), ("mxf4nvf4", 2, "ue8m0"), ("mxf4nvf4", 4, "ue4m3")):
        table[f"{kind}_{vector}x_{scale}"] = Instruction(
            f"mma.sync.aligned.m16n8k64.row.col.kind::{kind}.block_scale.scale_vec::{vector}X.f32.e2m1.e2m1.f32.{scale}",
            "e2m1", "e2m1", "f32", 64, ("120a",), scale, 64 // vector)
    return table


INSTRUCTIONS = instructions()


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        tensors[name] = np.frombuffer(data[8 + size + begin:8 + size + end], CELLS[t["dtype"]]).reshape(t["shape"])
    return metadata, tensors


def write_safetensors(path, metadata, tensors):
    names = {np.dtype(cell): name for name, cell in CELLS.items()}
    header, offset = {"__metadata__": metadata}, 0
    for name, x in tensors.items():
        header[name] = {"dtype": names[x.dtype], "shape": list(x.shape), "data_offsets": [offset, offset + x.nbytes]}
        offset += x.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".part", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for x in tensors.values():
            file.write(np.ascontiguousarray(x).tobytes())
    os.rename(path + ".part", path)


def registers(codes, element, instruction):
    """Codes [n, K] as the instruction's registers: u32 words [n, 4 or 8]."""
    codes = codes.astype(np.uint32)
    width = BITS[element]
    if width < 8 and instruction.k == 32:
        width, codes = 8, codes << 2 if element == "e2m1" else codes  # a byte each; e2m1 in its bits 2 to 5
    shifts = np.arange(0, 32, width, dtype=np.uint32)
    cells = codes.reshape(len(codes), -1, len(shifts)) << shifts
    return np.bitwise_or.reduce(cells, axis=2).astype("<u4")


def scale_words(tensors, name, rows):
    """The scales of a row as the bytes of one word."""
    words = np.zeros((rows, 4), np.uint8)
    if name in tensors:
        words[:, :tensors[name].shape[1]] = tensors[name]
    return words.view("<u4")[:, 0]


def build(instruction, arch, program):
    wgmma = instruction.ptx.startswith("wgmma")
    definitions = {
        "FPO_INSTRUCTION": f'"{instruction.ptx}"',
        "FPO_WORDS": instruction.k * max(BITS[instruction.a], 4 if instruction.k == 64 else 8) // 32,
        "FPO_HALF": int(instruction.d == "f16"),
        "FPO_WGMMA": int(wgmma),
        "FPO_TRANSPOSE": '", 0"' if wgmma and BITS[instruction.a] == 16 else '""',
        "FPO_SCALED": int(instruction.block != 0),
    }
    subprocess.run(["nvcc", "-std=c++17", "-O2", "-gencode", f"arch=compute_{arch},code=sm_{arch}", SOURCE, "-o", program]
                   + [f"-D{name}={value}" for name, value in definitions.items()], check=True)


def run(path, out, arch, build_only, work):
    metadata, tensors = read_safetensors(path)
    name = metadata["instruction"]
    instruction = INSTRUCTIONS[name]
    if arch not in instruction.arch:
        return f"{name}: not on sm_{arch}"
    program = os.path.join(work, name)
    build(instruction, arch, program)
    if build_only:
        return f"{name}: built"
    rows = len(tensors["c"])
    padded = -rows % 8
    words = [registers(tensors["a"], instruction.a, instruction), registers(tensors["b"], instruction.b, instruction),
             tensors["c"].astype("<u4"), scale_words(tensors, "sa", rows), scale_words(tensors, "sb", rows)]
    given = b"".join(x.tobytes() + bytes(padded * x.nbytes // rows) for x in words)
    result = subprocess.run([program, str(rows + padded)], input=given, stdout=subprocess.PIPE, check=True).stdout
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[0]
    metadata["source"] = f"recorded by tools/steps_on_gpu.py on {gpu} from {instruction.ptx}"
    tensors["d"] = np.frombuffer(result, "<u4")[:rows]
    write_safetensors(os.path.join(out, os.path.basename(path)), metadata, tensors)
    return f"{name}: {rows} rows"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="90a", help="sm_ARCH: 89, 90a, 120a, ...")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("out", nargs="?")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if options.list:
        for name, i in INSTRUCTIONS.items():
            print(f"{name:28} {i.ptx}   sm_{', sm_'.join(i.arch)}")
        return 0
    if not options.out or not options.files:
        parser.error("an output folder and row files are needed")
    os.makedirs(options.out, exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = {pool.submit(run, f, options.out, options.arch, options.build_only, work): f for f in options.files}
        for task in concurrent.futures.as_completed(tasks):
            try:
                print(task.result(), flush=True)
            except (subprocess.CalledProcessError, KeyError, ValueError, OSError) as error:
                print(f"{tasks[task]}: {error}", file=sys.stderr, flush=True)
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
