#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""summary.txt and outputs.txt of tools/record_kernels.sh from its JSON files: record_summary.py OUT SEED GROUPS"""
import collections
import glob
import json
import os
import sys

out, seed, groups = sys.argv[1:]
formats = dict(line.split()[:2] for line in groups.splitlines())
outcomes = collections.Counter()


def vector_name(result):
    return os.path.basename(result["vector"])[: -len(".safetensors")]


def write_outputs(group, report, outputs):
    """A line an output: formats, shape, data, seed, D, model, outcome, digest, kernel, variant."""
    d = {kernel["name"]: kernel["d"] for kernel in report["kernels"]}
    for r in report["results"]:
        if "digest" in r:
            shape, data = vector_name(r).split(".")
            print(formats[group], shape, data, seed, d[r["kernel"]], r["model"], r["outcome"], r["digest"], r["kernel"],
                  r["variant"].replace(" ", "_") or "-", file=outputs)


def summarise(name, report, say):
    say(f"{name}: {dict(collections.Counter(r['outcome'] for r in report['results']))}")
    seen = set()
    for r in report["results"]:
        outcomes[r["outcome"]] += 1
        key = (r["outcome"], r["kernel"], r["variant"], r["text"][:60])
        if r["outcome"] != "match" and key not in seen and len(seen) < 12:
            seen.add(key)
            say(f"    {r['outcome']} {r['kernel']} {r['variant']} {vector_name(r)}: {r['text'][:300]}")


with open(f"{out}/summary.txt", "w") as summary, open(f"{out}/outputs.txt", "w") as outputs:

    def say(text):
        print(text)
        print(text, file=summary)

    device = None
    for path in sorted(glob.glob(f"{out}/*.json")):
        name = os.path.basename(path)[: -len(".json")]
        try:
            report = json.load(open(path))
        except ValueError as error:
            say(f"{name}: no report: {error}")
            continue
        here = f"{report['device']['name']}, {report['device']['software']}"
        if here != device:
            say(device := here)
        summarise(name, report, say)
        write_outputs(name.split(".")[0], report, outputs)
    say(f"all: {dict(outcomes)}")
