#!/usr/bin/env python3
"""Files stay readable: at most 600 lines in a .cpp, 800 in a script, 250 in a header. Tables (.def) are exempt."""

import pathlib
import sys

CEILINGS = {".cpp": 600, ".py": 800, ".sh": 800, ".h": 250}
FOLDERS = ("src", "tools", "tests", "bench", "examples", "scripts")


def main(root):
    problems = []
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            ceiling = CEILINGS.get(file.suffix)
            if ceiling is None or not file.is_file():
                continue
            lines = len(file.read_text().splitlines())
            if lines > ceiling:
                problems.append(f"{file.relative_to(root)}: {lines} lines, {ceiling} is the ceiling")
    print("\n".join(problems) if problems else "no file is over its ceiling")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
