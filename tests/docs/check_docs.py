#!/usr/bin/env python3
"""Documents show real output: every ```console block is run and compared.

A block's lines that start with "$ " are commands (run in a shell with the given frazil first on the
PATH, in the project's root); what follows is their output, standard error included. A line "..." in
the expected output stands for any number of lines; a trailing "  # exit N" on a command states its
exit code (default 0). Digests change with the prelude, so they are compared by which of them are equal,
not by their digits; times, dates, sizes of code and of proofs and the machine's CPU level are not compared. Each document has a store of its own, empty at its
beginning. `--update` rewrites blocks that have no "..." line.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)
DIGEST = re.compile(r"\b[0-9a-f]{12,64}\b")
MEASURED = re.compile(r"\d[\d,]*(\.\d+)? (?:ns|us|ms|s)\b|\d[\d,]*(\.\d+)?(?= (?:bytes|calls|times|code bytes|kB)\b)|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
                      r"|\b(?:avx512|avx2|baseline)\b")
EXIT = re.compile(r"\s+# exit (\d+)$")


def split_commands(block):
    commands = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands:
            commands[-1][1].append(line)
    return commands


def run(command, root, binary, store):
    wanted = EXIT.search(command)
    env = dict(os.environ, PATH=f"{binary.parent}:{os.environ['PATH']}", NO_COLOR="1", FRAZIL_STORE=store)
    done = subprocess.run(["bash", "-c", EXIT.sub("", command)], cwd=root, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return done.stdout.rstrip("\n").split("\n") if done.stdout else [], done.returncode, \
        int(wanted.group(1)) if wanted else 0


class Digests:
    """Replaces digests by the order in which they first appear in a document."""

    def __init__(self):
        self.order = {}

    def hide(self, lines):
        # A short digest is the beginning of a long one: both count as one.
        def name(match):
            return f"<digest {self.order.setdefault(match.group()[:12], len(self.order))}>"
        # Columns move with the length of what is not compared.
        return [re.sub(r" +", " ", MEASURED.sub("<measured>", DIGEST.sub(name, line))) for line in lines]


def matches(expected, seen):
    """Whether `expected`, with "..." for any lines, describes `seen`."""
    if not expected:
        return not seen
    if expected[0] == "...":
        return any(matches(expected[1:], seen[i:]) for i in range(len(seen) + 1))
    return bool(seen) and expected[0].rstrip() == seen[0].rstrip() and matches(expected[1:], seen[1:])


def strip_blank(lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frazil", required=True, type=pathlib.Path)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    binary = options.frazil.resolve()
    failures = checked = 0
    for path in options.files:
        text = path.read_text()
        if "$ frazil tri prove" in text and not binary.with_name("frazil-oracle").exists():
            print(f"{path} is left out: it needs the published Triton VM")
            continue
        written, printed = Digests(), Digests()
        store = tempfile.TemporaryDirectory()

        def visit(match):
            nonlocal failures, checked
            out = []
            for command, expected in split_commands(match.group(1)):
                seen, code, wanted = run(command, options.root, binary, f"{store.name}/store")
                checked += 1
                good = code == wanted and matches(written.hide(strip_blank(expected)),
                                                  printed.hide(strip_blank(seen)))
                if not good and not options.update:
                    failures += 1
                    print(f"{path}: $ {command}\n  expected (exit {wanted}): {expected}\n"
                          f"  seen (exit {code}): {seen}", file=sys.stderr)
                out += ["$ " + command] + (expected if "..." in expected else seen)
            return "```console\n" + "\n".join(out) + "\n```"

        updated = FENCE.sub(visit, text)
        if options.update and updated != text:
            path.write_text(updated)
    print(f"{checked - failures} passed, {failures} failed")
    return 1 if failures or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
