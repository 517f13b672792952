"""What the shipped libraries link, by ldd and nm.

No user's process maps LLVM or Z3: neither the runtime nor the engine may name a shared library or hold a symbol of
them. The worker must hold LLVM, or the test could not fail; and each smaller library must not hold the folders that
only the larger one has.
"""
import argparse
import re
import subprocess
import sys

# libfmt is a package of the system or static; the rest belongs to every C++ program.
ALLOWED_LIBRARIES = re.compile(r"^(linux-vdso|ld-linux-x86-64|lib(stdc\+\+|m|gcc_s|c|dl|pthread|rt|fmt))\.so")
COMPILER = re.compile(r"\bllvm::|\bLLVM[A-Z]|\bZ3_|\bz3::")
FOLDERS = {
    "embed": {"base", "embed"},
    "rt": {"base", "embed", "ir", "exec", "profile", "verify", "store", "dispatch"},
    "frazil": {"base", "embed", "ir", "exec", "profile", "verify", "store", "dispatch", "optimize", "engine", "frontends",
               "targets", "sources", "registry", "oracle", "runtime"},
}
ALL_FOLDERS = FOLDERS["frazil"]


def shared_libraries(path):
    lines = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[0].rsplit("/", 1)[-1] for line in lines if line.strip()]


def symbols(path):
    return subprocess.run(["nm", "-C", path], capture_output=True, text=True, check=True).stdout


def problems_of(name, path):
    problems = [f"{name} links {library}" for library in shared_libraries(path) if not ALLOWED_LIBRARIES.match(library)]
    text = symbols(path)
    found = COMPILER.search(text)
    if found:
        problems.append(f"{name} holds a symbol of the compiler: {found.group(0)}")
    present = {folder for folder in ALL_FOLDERS if re.search(rf"\bfrazil::{folder}::", text)}
    for folder in sorted(present - FOLDERS[name]):
        problems.append(f"{name} holds {folder}/, which belongs to a larger library")
    # A folder without symbols would mean that the archives were not linked whole.
    for folder in sorted(FOLDERS[name] - present - {"base"}):
        problems.append(f"{name} should hold {folder}/ and does not")
    return problems


def main():
    parser = argparse.ArgumentParser()
    for name in [*FOLDERS, "worker"]:
        parser.add_argument(f"--{name}", required=True)
    arguments = vars(parser.parse_args())
    problems = []
    for name in FOLDERS:
        problems += problems_of(name, arguments[name])
    if not COMPILER.search(symbols(arguments["worker"])):
        problems.append("the worker holds no LLVM: this check could not fail")
    if any("z3" in library for library in shared_libraries(arguments["worker"])):
        problems.append("the worker needs Z3 to start")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
