# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Virtual environments with pinned packages, for the scripts that compare with other programs."""
import os
import subprocess
import sys


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def enter(packages):
    """Runs the calling script again inside an environment with these packages, which is made in
    $XDG_CACHE_HOME/fp4oracle if it is not there. Exit status 77 (skipped) if that cannot be had."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    name = "venv-" + "-".join(p.replace("==", "-") for p in packages) + "-py%d.%d" % sys.version_info[:2]
    folder = os.path.join(cache, "fp4oracle", name)
    python = os.path.join(folder, "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(folder):
        return
    complete = os.path.join(folder, "complete")
    if not os.path.exists(complete):
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
            command = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary", ":all:"]
            subprocess.run(command + packages, check=True, capture_output=True, timeout=300)
        except (subprocess.SubprocessError, OSError) as error:
            detail = getattr(error, "stderr", None) or b""
            skip("no environment with %s: %s %s" % (packages, error, detail.decode(errors="replace")[-300:]))
        open(complete, "w").close()
    os.execv(python, [python, os.path.abspath(sys.argv[0])] + sys.argv[1:])
