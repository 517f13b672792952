#!/usr/bin/env python3
"""Links of our documents lead somewhere: check_links.py ROOT. A relative link names a file or folder that is there, and a part
behind # a heading of it."""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)
CODE = re.compile(r"`[^`\n]*`")


def anchors(text):
    """What headings are called in links."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.lower())
        found.add(re.sub(r" ", "-", re.sub(r"[^\w\- ]", "", words)))
    return found


def problems_of(file):
    text = file.read_text()
    for target in LINK.findall(CODE.sub("", FENCE.sub("", text))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, part = target.partition("#")
        there = (file.parent / path).resolve() if path else file
        if not there.exists():
            yield f"{target}: there is no such file"
        elif part and part not in anchors(there.read_text()):
            yield f"{target}: there is no such heading"


def documents(root):
    git = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True,
                         check=False)
    names = git.stdout.split("\n") if git.returncode == 0 else [
        p.relative_to(root) for p in root.rglob("*.md") if not {"build", ".cache"} & set(p.relative_to(root).parts)]
    return sorted(root / name for name in names if str(name) and (root / name).is_file())


def main(root):
    files = documents(root)
    found = [f"{file.relative_to(root)}: {problem}" for file in files for problem in problems_of(file)]
    print("\n".join(found) if found else f"the links of {len(files)} documents lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
