#!/usr/bin/env python3
"""Libraries never print, exit or abort: no object file of ours refers to a function that does.

Usage: check_symbols.py NM ARCHIVE...   Only our own archives are looked at, not fmt or libstdc++.
"""

import pathlib
import re
import subprocess
import sys

FORBIDDEN = re.compile(
    r"""^(
      (__)?v?printf(_chk)? | (__)?v?fprintf(_chk)? | dprintf | puts | putchar | putc | fputs | fputc | perror
      | stdout | stderr
      | exit | _exit | _Exit | quick_exit | abort | __assert_fail
      | std::(cout|cerr|clog|wcout|wcerr|wclog)
      | fmt::v\d+::v?print\(.*
    )$""",
    re.VERBOSE,
)

# (library, symbol) -> why it is right there.
ALLOWED = {
    ("libfrazil_base", "_exit"): "the end of a process that was forked for a job (base/system/process.cpp, base/system/jobs.cpp)",
}


def violations(nm, archive):
    listing = subprocess.run(
        [nm, "--undefined-only", "--demangle", "--print-file-name", archive],
        check=True, capture_output=True, text=True,
    ).stdout
    library = pathlib.Path(archive).stem
    for line in listing.splitlines():
        match = re.match(r"^\S*?([^:/]+\.o):\s+[Uvw] (.*)$", line)
        if match and FORBIDDEN.match(match.group(2).split("@")[0]):
            if (library, match.group(2)) not in ALLOWED:
                yield f"{library}: {match.group(1)} refers to {match.group(2)}"


def main(nm, archives):
    problems = [line for archive in archives for line in violations(nm, archive)]
    print("\n".join(problems) if problems else f"{len(archives)} libraries neither print nor exit")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
