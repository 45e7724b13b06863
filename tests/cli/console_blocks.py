# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""The ```console blocks of a document: runs their commands one after the other and compares what they print.

console_blocks.py DOCUMENT            exit status 1 and a diff where something differs
console_blocks.py DOCUMENT --update   writes what they print now into the document
A line that begins with "$ " is a command for bash, lines that end in a backslash go on; "# exit N" behind a command says
with which status it ends. `fp4oracle` is the program that FP4ORACLE names. The commands share a folder of their own.
A block fenced "```console PLUGIN..." needs those plug-ins in FPO_PLUGINS: where one is not there, the block is left as it is.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile


def commands(block):
    command = None
    for line in block:
        if line.startswith("$ "):
            command = line[2:]
        elif command is not None and command.endswith("\\"):
            command = command[:-1] + line.strip()
        else:
            continue
        if not command.endswith("\\"):
            yield command
            command = None


def run(command, folder):
    script = 'set -o pipefail; fp4oracle() { "$FP4ORACLE" "$@"; }; ' + command
    result = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
    wanted = re.search(r"# exit (\d+)$", command)
    if result.returncode != int(wanted.group(1) if wanted else 0):
        sys.exit(f"{command}\nended with status {result.returncode}: {result.stderr}")
    return result.stdout


def typed(block):
    """The lines that are commands, with their continuations."""
    lines, more = [], False
    for line in block:
        if line.startswith("$ ") or more:
            lines.append(line)
            more = line.endswith("\\")
    return lines


def is_there(plugin):
    found = os.path.exists(os.path.join(os.environ.get("FPO_PLUGINS", ""), plugin + ".so"))
    if not found:
        print(f"not run: a block that needs {plugin}", file=sys.stderr)
    return found


def render(lines, folder):
    out, block = [], None
    for line in lines:
        if block is None:
            out.append(line)
            fence = line.split()
            if fence[:1] == ["```console"] and all(is_there(name) for name in fence[1:]):
                block = []
        elif line == "```":
            groups, current = [], []
            for entry in typed(block):
                current.append(entry)
                if not entry.endswith("\\"):
                    groups.append(current)
                    current = []
            for group in groups:
                out += group
                for command in commands(group):
                    out += run(command, folder).splitlines()
            out.append(line)
            block = None
        else:
            block.append(line)
    return out


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.pop("NO_COLOR", None)
        now = render(lines, folder)
    if "--update" in sys.argv[2:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(now) + "\n")
    elif now != lines:
        print("\n".join(difflib.unified_diff(lines, now, path, "what is printed now", lineterm="", n=1)))
        sys.exit(1)


main()
