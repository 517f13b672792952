#!/usr/bin/env python3
"""Checks every .tri file of a checkout of the original repository: all of them type, but for those listed here, which
break a rule of their own reference. The checkout is never part of this project.

    corpus.py CHECKOUT [--frazil PROGRAM]
"""
import argparse
import json
import pathlib
import subprocess
import sys

# File -> (a part of its first error, why it is wrong by its own reference).
EXCEPTIONS = {
    "std/crypto/ecdsa.tri": ("is private", "names private fields of U256, a struct of another module"),
    "std/crypto/secp256k1.tri": ("is private", "names private fields of U256, a struct of another module"),
    "std/crypto/ed25519.tri": ("is private", "names private fields of U256, a struct of another module"),
    "std/trinity/inference.tri": ("'field' is used here", "uses std.fhe.pbs, and names private fields of TwoQubit"),
    "std/fhe/rlwe.tri": ("'field' is used here", "calls field.neg without `use vm.core.field`"),
    "std/fhe/pbs.tri": ("'field' is used here", "calls field.neg without `use vm.core.field`"),
}


def check(frazil, checkout, file):
    """The errors of one file, as text."""
    command = [frazil, "--json", "tri", "check", "--path", str(checkout), str(checkout / file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 1):
        return [f"exit code {done.returncode}: {done.stderr.strip()}"]
    rows = json.loads(done.stdout)
    return [error["message"] for row in rows for error in row["errors"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--frazil", default=str(root / "build/release/bin/frazil"))
    arguments = parser.parse_args()
    files = sorted(str(path.relative_to(arguments.checkout)) for folder in ("std", "os", "vm")
                   for path in (arguments.checkout / folder).rglob("*.tri"))
    if not files:
        sys.exit(f"{arguments.checkout} has no std, os or vm with .tri files")
    wrong = 0
    for file in files:
        errors = check(arguments.frazil, arguments.checkout, file)
        expected = EXCEPTIONS.get(file)
        if expected is None and errors:
            wrong += 1
            print(f"{file}: must type, but: {errors[0]}")
        elif expected is not None and not any(expected[0] in error for error in errors):
            wrong += 1
            print(f"{file}: was wrong ({expected[1]}) and now is not, or for another reason: {errors[:1]}")
    print(f"{len(files)} files, {len(EXCEPTIONS)} of them wrong by their own reference, {wrong} not as expected")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
