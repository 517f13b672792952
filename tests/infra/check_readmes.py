#!/usr/bin/env python3
"""Each folder of src/ explains itself in at most 20 lines: charter, entry header, what does not belong,
how to add one more."""

import pathlib
import re
import sys

from layers import GROUPS

PARTS = ("**Entry:**", "**Not here:**", "**One more:**")
HEADER = re.compile(r"`([a-z_0-9/]+\.(?:h|def))`")
LINES = 20


def folders(source):
    for folder in sorted(path for path in source.iterdir() if path.is_dir()):
        yield folder
        if folder.name in GROUPS:
            yield from sorted(path for path in folder.iterdir() if path.is_dir())


def problems_of(source, folder):
    file = folder / "README.md"
    name = folder.relative_to(source).as_posix()
    if not file.exists():
        return [f"src/{name}: README.md is missing"]
    text = file.read_text()
    found = []
    if len(text.splitlines()) > LINES:
        found.append(f"src/{name}/README.md: over {LINES} lines")
    if not text.startswith(f"# {name}: "):
        found.append(f"src/{name}/README.md: the first line must be '# {name}: <charter>'")
    found += [f"src/{name}/README.md: no {part}" for part in PARTS if part not in text]
    entry = text.partition("**Entry:**")[2].partition("**Not here:**")[0]
    found += [
        f"src/{name}/README.md: {header} does not exist"
        for header in HEADER.findall(entry)
        if not (source / header).exists() and not (folder / header).exists()
    ]
    return found


def main(root):
    source = root / "src"
    problems = [line for folder in folders(source) for line in problems_of(source, folder)]
    print("\n".join(problems) if problems else "every folder explains itself")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
