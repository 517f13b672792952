#!/usr/bin/env python3
"""The checker of certificates stays small enough to be read in an afternoon: its lines of code (neither blank nor comment, tables
apart) are counted, are under their ceilings, and are what docs/architecture.md says.

A part is complete: what its files include of verify/ is listed too, in it or in a part before it."""

import pathlib
import re
import sys

# Part -> ceiling, files under src/verify. What replays a certificate without loops needs the first part only.
PARTS = {
    "replay": (1850, ["certificates/certificate_lines.cpp", "certificates/certificate_traps.cpp", "certificates/certificate_walk.cpp", "internal/certificate_checker.h",
                      "certificates/side.cpp", "internal/side.h", "certificates/terms.cpp", "internal/terms.h", "rules/rule_match.cpp", "internal/rule_match.h",
                      "certificates/ranges.cpp", "internal/ranges.h"]),
    "induction": (1000, ["certificates/induction.cpp", "certificates/induction_constant.cpp", "certificates/induction_symbolic.cpp", "internal/induction.h"]),
    "integers": (350, ["certificates/big_int.cpp", "internal/big_int.h", "internal/polynomial.h"]),
    "passes": (450, ["certificates/passes.cpp", "internal/passes.h"]),
}
# What the parts may include of verify/ besides: verdicts, and the two predicates that rules and their proofs share.
SHARED = {"verify/verdict.h", "verify/evidence.h", "verify/rules/rule_proof.h", "verify/internal/rule_program.h"}
DOCUMENT = "docs/architecture.md"


def code_lines(text):
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def main(root):
    problems, counts = [], {}
    listed = {f"verify/{file}" for _, files in PARTS.values() for file in files} | SHARED
    for part, (ceiling, files) in PARTS.items():
        counts[part] = 0
        for file in files:
            text = (root / "src/verify" / file).read_text()
            counts[part] += code_lines(text)
            problems += [f"src/verify/{file} includes {header}, which is in no part of check_checker.py"
                         for header in re.findall(r'#include "(verify/[^"]+)"', text) if header not in listed]
        if counts[part] > ceiling:
            problems.append(f"{part}: {counts[part]} lines of code, {ceiling} is the ceiling")
    said = (root / DOCUMENT).read_text()
    for part, count in counts.items():
        if f"{part} {count:,}" not in said:
            problems.append(f'{DOCUMENT} does not say "{part} {count:,}"')
    print("\n".join(problems) if problems else ", ".join(f"{part} {count:,}" for part, count in counts.items()))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
