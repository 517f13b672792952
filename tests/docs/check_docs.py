#!/usr/bin/env python3
"""Documents show real output: every ```console block is run and compared.

A block's lines that start with "$ " are commands (run in a shell with the given frazil first on the
PATH, in the project's root); what follows is their output, standard error included. A line "..." in
the expected output stands for any number of lines; a trailing "  # exit N" on a command states its
exit code (default 0). Digests change with the prelude, so they are compared by which of them are equal,
not by their digits. What is measured (times, ratios, sizes of code and of proofs, numbers of calls) differs from run to run and from
machine to machine, but not by orders of magnitude: a figure that is NEAR times as large as what the program prints, or as small, is
outdated. Dates and the machine's CPU level are not compared. Each document has a store of its own, empty at its beginning.
`--update` rewrites blocks, and of those with "..." the lines that are shown.
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
TIME, SIZE = r"(\d[\d,]*(?:\.\d+)?) (ns|us|ms|s)\b", r"((?<=code sampled )\d[\d,]*|\d[\d,]*(?:\.\d+)?(?= (?:bytes|calls|times|code bytes|kB|SEEN)\b))"
# What a judge saw of code depends on the levels that the machine has.
SIZE = SIZE.replace("SEEN", r"inputs|that trapped|lanes|at a time|judged again|agree|(?:of \d+ )?(?:blocks|loops)")
MEASURED = re.compile(TIME + "|" + SIZE + r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\b(?:avx512|avx2|baseline)\b")
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# Between an idle machine and one that has ten other things to do, times of one run differ by some ten. How late in a run a line
# is printed (its stamp, at the beginning) differs most.
NEAR, NEAR_STAMP = 32, 100
# A single time, of a microsecond even, may be late by a turn of somebody else's; a time a call is one of many.
LATE, MANY = 0.1, re.compile(r" a call| ->")
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


def figures(line):
    """The measured numbers of a line, times in seconds; by which factor each may be off, and by how much too late."""
    found = []
    for match in MEASURED.finditer(line):
        number, unit, size = match.groups()
        if number or size:
            value = float((number or size).replace(",", "")) * (SECONDS[unit] if unit else 1)
            factor = NEAR_STAMP if number and not line[:match.start()].strip() else NEAR
            found.append((value, factor, LATE if number and not MANY.match(line, match.end()) else 0))
    return found


def near(expected, seen):
    """Whether the figures of two lines are of the same order of magnitude. What is rounded to 0 says only that it was little."""
    return all(max(a, b) <= factor * min(a, b) or min(a, b) == 0 or a < b <= late
               for (a, factor, late), (b, _, _) in zip(figures(expected), figures(seen)))


def align(expected, seen, same):
    """For each line of `expected` the line of `seen` that it describes by `same`, None for "..."; None if there is no such reading.
    All three are told by index; "..." stands for any number of lines."""
    if not expected:
        return None if seen else []
    if expected[0][1] == "...":
        for i in range(len(seen) + 1):
            rest = align(expected[1:], seen[i:], same)
            if rest is not None:
                return [None, *rest]
        return None
    if not seen or not same(expected[0], seen[0]):
        return None
    rest = align(expected[1:], seen[1:], same)
    return None if rest is None else [seen[0][0], *rest]


def same_text(expected, seen):
    return expected[2].rstrip() == seen[2].rstrip()


def same_order(expected, seen):
    return same_text(expected, seen) and near(expected[1], seen[1])


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
                shown, told = strip_blank(expected), strip_blank(seen)
                lines = list(zip(range(len(shown)), shown, written.hide(shown)))
                others = list(zip(range(len(told)), told, printed.hide(told)))
                good = code == wanted and align(lines, others, same_order) is not None
                if not good and not options.update:
                    failures += 1
                    outdated = code == wanted and align(lines, others, same_text) is not None
                    print(f"{path}: $ {command}\n" + ("  figures of another order of magnitude\n" if outdated else "") +
                          f"  expected (exit {wanted}): {expected}\n  seen (exit {code}): {seen}", file=sys.stderr)
                if "..." not in expected:
                    out += ["$ " + command] + seen
                else:
                    places = align(lines, others, same_text) or [None] * len(shown)
                    out += ["$ " + command] + [line if place is None else told[place] for line, place in zip(shown, places)]
            return "```console\n" + "\n".join(out) + "\n```"

        updated = FENCE.sub(visit, text)
        if options.update and updated != text:
            path.write_text(updated)
    print(f"{checked - failures} passed, {failures} failed")
    return 1 if failures or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
