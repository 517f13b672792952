"""What a program with embedded kernels is made of, by ldd, nm and readelf.

It links no compiler, no Python and no WebAssembly engine, and holds no symbol of the IR, the interpreter or anything
else above embed/. Descriptors are read-only data of the program, and the loader has nothing to relocate in them.
"""
import argparse
import re
import subprocess
import sys

ALLOWED_LIBRARIES = re.compile(r"^(linux-vdso|ld-linux-x86-64|lib(stdc\+\+|m|gcc_s|c|dl|pthread|rt|fmt))\.so")
FOREIGN = re.compile(r"\bllvm::|\bLLVM[A-Z]|\bZ3_|\bPy[A-Z_]|\bwasmtime_")
OURS = {"base", "embed"}
FOLDERS = ["ir", "exec", "frontends", "targets", "optimize", "verify", "profile", "store", "dispatch", "engine", "aot",
           "kernel", "machines"]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def section_ranges(path):
    """Name -> (address, size, flags) of each section."""
    ranges = {}
    for line in run("readelf", "-SW", path).splitlines():
        found = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s+[0-9a-f]+\s+([A-Za-z]*)", line)
        if found:
            ranges.setdefault(found[1], (int(found[2], 16), int(found[3], 16), found[4]))
    return ranges


def descriptors(path):
    """Address and size of each descriptor."""
    found = []
    for line in run("nm", "-S", path).splitlines():
        parts = line.split()
        if len(parts) == 4 and re.match(r"frazil_(kernel|module)_", parts[3]):
            found.append((parts[3], int(parts[0], 16), int(parts[1], 16), parts[2]))
    return found


def problems_of_program(path):
    problems = []
    for line in run("ldd", path).splitlines():
        library = line.split()[0].rsplit("/", 1)[-1] if line.strip() else ""
        if library and not ALLOWED_LIBRARIES.match(library):
            problems.append(f"it links {library}")
    symbols = run("nm", "-C", path)
    foreign = FOREIGN.search(symbols)
    if foreign:
        problems.append(f"it holds {foreign.group(0)}")
    problems += [f"it holds {folder}/" for folder in FOLDERS if re.search(rf"\bfrazil::{folder}::", symbols)]
    if not re.search(r"\bfrazil::embed::", symbols):
        problems.append("it does not hold embed/: this check could not fail")

    sections = section_ranges(path)
    address, size, flags = sections[".rodata"]
    if "W" in flags:
        problems.append(".rodata is writable")
    all_descriptors = descriptors(path)
    if not all_descriptors:
        problems.append("it has no descriptor")
    for name, at, length, kind in all_descriptors:
        if not (address <= at and at + length <= address + size) or kind not in "rR":
            problems.append(f"{name} is not in .rodata")
    relocations = [int(line.split()[0], 16) for line in run("readelf", "-rW", path).splitlines()
                   if re.match(r"[0-9a-f]{12,}\s", line)]
    if not relocations:
        problems.append("readelf shows no relocation at all: this check could not fail")
    inside = [where for where in relocations if address <= where < address + size]
    if inside:
        problems.append(f"{len(inside)} relocations at start-up lie in .rodata")
    return problems


def problems_of_object(path):
    """What is relocated when the object is linked: distances only, which the linker settles."""
    problems = []
    section = ""
    for line in run("readelf", "-rW", path).splitlines():
        found = re.match(r"Relocation section '\.rela(\S+)'", line)
        if found:
            section = found[1]
        kind = re.search(r"\bR_X86_64_\w+", line)
        if kind and section.startswith(".rodata.frazil") and kind.group(0) != "R_X86_64_PC32":
            problems.append(f"{section} has a relocation {kind.group(0)}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--object", required=True)
    arguments = parser.parse_args()
    problems = problems_of_program(arguments.program) + problems_of_object(arguments.object)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
