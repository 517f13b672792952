#!/usr/bin/env python3
"""American spelling in documents, comments and texts: check_spelling.py ROOT. It knows the words that were found here once."""
import pathlib
import re
import subprocess
import sys

# For grep, in pieces, so that this file does not contain what it looks for.
STEMS = ("canonical optim serial vector special general initial recogn normal minim maxim organ summar synchron material random"
         " tensor parallel util custom memor").split()
BRITISH = "|".join(["(" + "|".join(STEMS) + ")is(e|ed|er|es|ing|ation)\\b", "(label|cancel|model|signal|travel)" + "l(ed|ing)",
                    "(behavi|neighb|\\bcol|\\bfav|\\bhon)" + "our", "arte" + "fact", "\\bcent" + "re", "\\blicen" + "ce\\b",
                    "judge" + "ment", "analy" + "s(e|ed|ing)\\b", "\\blear" + "nt\\b"])
SUFFIXES = {".md", ".cpp", ".h", ".def", ".py", ".cmake", ".txt", ".sh", ".rs", ".frz", ".tri", ".cir", ".isa", ".test", ""}
# What people write, and recorded figures, which keep the names they were measured under.
EXEMPT = re.compile(r"^(src/frontends/words/lexicon\.cpp|tests/words/.*\.txt|bench/recorded/.*|bench/text_bench\.cpp"
                    r"|docs/benchmarks\.md|LICENSE)$")


def main(root):
    git = subprocess.run(["git", "-C", root, "ls-files", "-coz", "--exclude-standard"], capture_output=True, text=True, check=False)
    names = git.stdout.split("\0") if git.returncode == 0 else [
        p.relative_to(root).as_posix() for p in root.rglob("*") if not {"build", ".cache"} & set(p.relative_to(root).parts)]
    files = [name for name in sorted(set(names))
             if name and not EXEMPT.match(name) and pathlib.Path(name).suffix in SUFFIXES and (root / name).is_file()]
    grep = subprocess.run(["grep", "-noiIE", BRITISH, "--", "/dev/null", *files], cwd=root, capture_output=True, text=True,
                          check=False)
    print(grep.stdout + grep.stderr if grep.returncode != 1 else f"{len(files)} files are spelled as in America")
    return 0 if grep.returncode == 1 and files else 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
