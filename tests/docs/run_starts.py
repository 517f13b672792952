#!/usr/bin/env python3
"""The starts of the README work when pasted: every ```sh block is run as it stands, in one shell each, all of them in one
folder that was empty before; the ```text block behind it is what must be printed, in the words of check_docs.py ("..." for any
lines, digests and measured figures compared as there). With --build, Frazil is installed first, and found as a user finds it.
A block that proves is left out where the published Triton VM is not there, and says so.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

from check_docs import Digests, align, same_order, strip_blank

STARTS = 3
BLOCK = re.compile(r"^```sh\n(.*?)^```\n+^```text\n(.*?)^```$", re.S | re.M)
ALL = re.compile(r"^```sh$", re.M)


def environment(scratch, build):
    env = dict(os.environ, NO_COLOR="1", FRAZIL_STORE=str(scratch / "store"))
    if build:
        prefix = scratch / "installed"
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        env.update(PATH=f"{prefix / 'bin'}:{env['PATH']}", CMAKE_PREFIX_PATH=str(prefix))
        for name in ("FRAZIL_WORKER", "FRAZIL_WASMTIME"):
            env.pop(name, None)
    return env


def has_prover(env):
    prefix = env.get("CMAKE_PREFIX_PATH", "")
    return "FRAZIL_ORACLE" in env or (pathlib.Path(prefix) / "libexec/frazil/frazil-oracle").exists()


def run(script, expected, folder, env):
    """Nothing if it does what the document says, else what it did."""
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, env=env, text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    shown, told = strip_blank(expected.splitlines()), strip_blank(done.stdout.splitlines())
    lines = list(zip(range(len(shown)), shown, Digests().hide(shown)))
    others = list(zip(range(len(told)), told, Digests().hide(told)))
    # Of a digest only one stands in each block, and it need not be the first that is printed.
    lines, others = ([(i, line, re.sub(r"<digest \d+>", "<digest>", text)) for i, line, text in each] for each in (lines, others))
    if done.returncode == 0 and align(lines, others, same_order) is not None:
        return ""
    return f"expected:\n{expected}\nseen (exit {done.returncode}):\n{done.stdout}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--scratch", required=True, type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    options = parser.parse_args()
    text = options.document.read_text()
    blocks = BLOCK.findall(text)
    if len(blocks) < STARTS or len(blocks) != len(ALL.findall(text)):
        print(f"{options.document}: {len(ALL.findall(text))} starts, {len(blocks)} of them with what they print; at least {STARTS}"
              " are wanted", file=sys.stderr)
        return 1
    scratch = options.scratch.resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    folder = scratch / "pasted"
    folder.mkdir(parents=True)
    env = environment(scratch, options.build)
    failures = 0
    for script, expected in blocks:
        first = script.splitlines()[0]
        if "tri prove" in script and not has_prover(env):
            print(f"left out, it needs the published Triton VM: {first}")
            continue
        wrong = run(script, expected, folder, env)
        print(f"{'failed' if wrong else 'passed'}: {first}")
        if wrong:
            failures += 1
            print(wrong, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
