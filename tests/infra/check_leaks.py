#!/usr/bin/env python3
"""No tracked file names a folder of one machine or the host of a package registry: what we ship must work
on every machine, with the registries that machine is set up for."""

import pathlib
import re
import subprocess
import sys

# Written so that this file does not contain what it looks for.
PATTERNS = {
    "a path of one machine": re.compile(
        r"(?<![\w.}$-])/(?:work|root|home|Users|mnt|opt|tmp|var/tmp)/[\w.]"),
    "the host of a package registry": re.compile(
        r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|crates\.io|golang\.org|maven\.org"
        r"|(?:deb|security)\.debian\.org|apt\.llvm\.org|rubygems\.org"),
}
SKIPPED_SUFFIXES = {".png", ".gz", ".frzb"}


def tracked(root):
    git = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
    if git.returncode == 0:
        names = [name for name in git.stdout.split("\0") if name]
    else:  # an unpacked archive: everything but what we made
        names = [
            file.relative_to(root).as_posix()
            for file in root.rglob("*")
            if not {"build", ".cache", ".git"} & set(file.relative_to(root).parts)
        ]
    return [root / name for name in sorted(names) if (root / name).is_file()]


def main(root):
    problems = []
    files = [file for file in tracked(root) if file.suffix not in SKIPPED_SUFFIXES]
    for file in files:
        text = file.read_bytes().decode("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            for what, pattern in PATTERNS.items():
                match = pattern.search(line)
                if match:
                    problems.append(f"{file.relative_to(root)}:{number}: {what}: {match.group()}")
    print("\n".join(problems) if problems else f"{len(files)} files name no machine and no registry")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
