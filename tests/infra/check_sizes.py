#!/usr/bin/env python3
"""Files and folders stay readable: at most 600 lines in a .cpp, 800 in a script, 250 in a header; tables (.def) are exempt.

Commands are thin: no .cpp or .h under tools/frazil has more than 150 lines, wherever it lies; what does not fit is a library's.
No folder under src/ or tools/ holds more than 40 files, those in its sub-folders apart.
"""

import pathlib
import sys

CEILINGS = {".cpp": 600, ".py": 800, ".sh": 800, ".h": 250}
FOLDERS = ("src", "tools", "tests", "bench", "examples", "scripts")
COMMANDS = "tools/frazil"
COMMAND_CEILING = 150
ROOMS = ("src", "tools")
MOST_FILES = 40


def ceiling_of(path, root):
    ceiling = CEILINGS.get(path.suffix)
    if path.suffix in (".cpp", ".h") and path.is_relative_to(root / COMMANDS):
        return COMMAND_CEILING
    return ceiling


def check_files(root):
    problems = []
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            ceiling = ceiling_of(file, root)
            if ceiling is None or not file.is_file():
                continue
            lines = len(file.read_text().splitlines())
            if lines > ceiling:
                problems.append(f"{file.relative_to(root)}: {lines} lines, {ceiling} is the ceiling")
    return problems


def check_folders(root):
    """What a tool leaves behind (a virtual environment, a cache) is not counted: hidden folders, __pycache__, Rust's target."""
    problems = []
    for top in ROOMS:
        for folder in [root / top, *sorted((root / top).rglob("*"))]:
            parts = folder.relative_to(root).parts
            if not folder.is_dir() or any(p.startswith(".") or p in ("__pycache__", "target") for p in parts):
                continue
            files = sum(1 for entry in folder.iterdir() if entry.is_file() and not entry.name.startswith("."))
            if files > MOST_FILES:
                problems.append(f"{folder.relative_to(root)}: {files} files, {MOST_FILES} is the most; make rooms")
    return problems


def main(root):
    problems = check_files(root) + check_folders(root)
    print("\n".join(problems) if problems else "no file or folder is over its ceiling")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
