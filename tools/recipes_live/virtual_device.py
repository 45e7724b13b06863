# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""What the scripts share that execute quantisers on the virtual GPU: libcuda.so.1, numbers, files, the comparison. Plain
Python: neither numpy nor torch."""
import ctypes
import json
import pathlib
import random
import re
import struct
import subprocess
import sys

K = 256
NAN, INF = float("nan"), float("inf")
SIZE = {"f32": 4, "bf16": 2, "f16": 2}


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
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(status, ctypes.byref(text))
            self.failed(f"{name}: error {status}, {(text.value or b'').decode()}")

    def failed(self, reason):
        sys.exit(reason)

    def load(self, ptx, name=""):
        """The kernel whose name has this part, and how many arguments it takes."""
        module, entry = ctypes.c_void_p(), ctypes.c_void_p()
        [(kernel, arguments)] = [k for k in re.findall(r"\.entry (\w+)\(([^)]*)\)", ptx) if re.search(name, k[0])]
        self.call("cuModuleLoadData", ctypes.byref(module), ptx.encode())
        self.call("cuModuleGetFunction", ctypes.byref(entry), module, kernel.encode())
        return entry, arguments.count(".param ")

    def upload(self, data):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address

    def download(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, address, ctypes.c_size_t(size))
        return data.raw

    def launch(self, entry, grid, threads, values, shared=0):
        """`values`: the arguments, ctypes objects."""
        if shared > 48 << 10:
            self.call("cuFuncSetAttribute", entry, 8, shared)
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values))
        self.call("cuLaunchKernel", entry, *grid, threads, 1, 1, shared, None, pointers, None)
        self.call("cuCtxSynchronize")

    def free(self, *addresses):
        for address in addresses:
            self.call("cuMemFree_v2", address)


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


def widened(x, dtype):
    """As f32, which has them all."""
    if dtype == "f32":
        return x
    if dtype == "bf16":
        return b"".join(b"\0\0" + x[i:i + 2] for i in range(0, len(x), 2))
    return struct.pack(f"<{len(x) // 2}f", *struct.unpack(f"<{len(x) // 2}e", x))


def ours(program, folder, recipe, x, dtype, rows, library_scale=None, columns=K, seed=0):
    """What our recipe makes of it: codes and scales."""
    write(f"{folder}/x.safetensors", {"x": (dtype.upper(), [rows, columns], x)}, {})
    scale = [] if library_scale is None else ["--library-scale", repr(library_scale)]
    subprocess.run([program, "quantize", f"{folder}/x.safetensors:x", "--recipe", recipe, *scale, "--seed", str(seed), "-o", f"{folder}/q.safetensors"], check=True,
                   stdout=subprocess.DEVNULL)
    result = read(f"{folder}/q.safetensors")
    return result["codes"], result["scale"]


def difference(theirs, mine):
    """Bytes, differing ones, and the first of these, for people. `theirs` and `mine` are codes and scales."""
    count = different = 0
    place = ""
    for what, a, b in zip(("code byte", "scale byte"), theirs, mine):
        if len(a) != len(b):
            sys.exit(f"{len(a)} bytes, ours {len(b)}")
        places = [i for i in range(len(a)) if a[i] != b[i]]
        count, different = count + len(a), different + len(places)
        if places and not place:
            place = f"{what} {places[0]}: {a[places[0]]:02X}, ours {b[places[0]]:02X}"
    return count, different, place
