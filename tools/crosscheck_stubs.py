#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Empty stand-ins for the CUDA libraries that a torch wheel links, so that its CPU side can be imported without them.

Run with the python of the environment that has torch. Every symbol that torch leaves undefined and that a CUDA library
would give is defined as a function that fails; nothing on the CPU calls one, but for the question how many devices there
are, which is answered with an error.
"""
import collections
import pathlib
import re
import subprocess
import sysconfig
import tempfile

LIBRARIES = pathlib.Path(sysconfig.get_paths()["purelib"]) / "torch" / "lib"


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=True).stdout


def main():
    present = {path.name for path in LIBRARIES.iterdir()}
    wanted = collections.defaultdict(dict)  # library: {symbol: version}
    plain = set()                           # symbols without a version, of whichever library
    for path in sorted(LIBRARIES.glob("lib*.so*")):
        for name in re.findall(r"NEEDED.*\[(lib(?:cu|nv|nccl)[^\]]*)\]", readelf("-d", path)):
            if name not in present:
                wanted[name]
        library_of, library = {}, None
        for line in readelf("-V", path).splitlines():
            if match := re.search(r"File: (\S+)", line):
                library = match.group(1)
            elif match := re.search(r"Name: (\S+)\s+Flags", line):
                library_of[match.group(1)] = library
        for line in readelf("--dyn-syms", path).splitlines():
            fields = line.split()
            if len(fields) < 8 or fields[6] != "UND":
                continue
            name, _, version = fields[7].partition("@")
            version = version.lstrip("@")
            if version and library_of.get(version) in wanted:
                wanted[library_of[version]][name] = version
            elif not version and re.match(r"(cu|nv|nccl|__cuda)", name):
                plain.add(name)
    for index, library in enumerate(sorted(wanted)):
        build(library, wanted[library], plain if index == 0 else set())
    print("stand-ins:", " ".join(sorted(wanted)))


def build(library, versioned, plain):
    versions = collections.defaultdict(list)
    for name, version in versioned.items():
        versions[version].append(name)
    body = "{ return 100; }" if library.startswith("libcudart") else "{ __builtin_trap(); }"
    source = "".join(f"long {name}(void) {body}\n" for name in sorted(set(versioned) | plain))
    script = "".join(f"{version} {{ global: {'; '.join(sorted(names))}; }};\n" for version, names in versions.items())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "stubs.c").write_text(source or "int nothing;\n")
        (folder / "stubs.map").write_text(script)
        command = ["gcc", "-w", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-soname,{library}", str(folder / "stubs.c"), "-o",
                   str(LIBRARIES / library)]
        subprocess.run(command + ([f"-Wl,--version-script={folder / 'stubs.map'}"] if script else []), check=True)


if __name__ == "__main__":
    main()
