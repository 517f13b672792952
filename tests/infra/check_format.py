#!/usr/bin/env python3
"""Every C++ file is as `make format` would leave it."""

import pathlib
import subprocess
import sys

FOLDERS = ("src", "tools", "tests", "bench", "examples")
FORMATTER = "clang-format-22"


def main(root):
    files = [file for folder in FOLDERS for kind in ("*.cpp", "*.h") for file in sorted((root / folder).rglob(kind))]
    problems = []
    for start in range(0, len(files), 100):
        told = subprocess.run([FORMATTER, "--dry-run", *files[start:start + 100]], capture_output=True, text=True, check=True)
        problems += {line.split(":")[0] for line in told.stderr.splitlines() if "clang-format-violations" in line}
    for file in sorted(problems):
        print(f"{pathlib.Path(file).relative_to(root)}: not formatted, `make format` does it")
    if not problems:
        print(f"{len(files)} files are formatted")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
