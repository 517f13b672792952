#!/usr/bin/env python3
"""Everything that the tree takes from the system comes with scripts/packages.txt: each system header that it includes, each
library it links by name and each program that scripts, tests and the build start belongs to a package of its dependency closure
(without recommended ones) or of the base system (a minimal Debian with git, make and certificates).

Whether something happens to be installed on this machine does not count: its package must be asked for. `make bare` shows the
same by trying it, in 45 minutes; this takes seconds. Exit code 77: not a Debian machine, nothing was checked.
"""

import ast
import os
import pathlib
import re
import sys

import packages
import shell_words
from check_leaks import tracked

ARCH = "x86_64-linux-gnu"
INCLUDE_FOLDERS = [
    "/usr/include/c++/12", f"/usr/include/{ARCH}/c++/12", "/usr/lib/llvm-22/lib/clang/22/include",
    f"/usr/include/{ARCH}", "/usr/include", "/usr/lib/llvm-22/include",
]
PROGRAM_FOLDERS = ["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/lib/llvm-22/bin"]
LIBRARY_FOLDERS = [f"/usr/lib/{ARCH}", f"/lib/{ARCH}"]

# Made by the build, not by a package.
GENERATED = {"frazil_stdlib.hpp"}
# Our own programs where a person would type them.
OURS = {"frazil"}
# What is asked for by other means, or done without: the reason stands with each.
OPTIONAL = {
    "cargo": "scripts/setup.sh asks for it once; without it nothing is proved, and it says so",
    "clang-tidy-22": "`make tidy` says what to install",
    "debootstrap": "scripts/bare-machine.sh installs it",
    "sudo": "scripts/setup.sh says what root must run where there is none",
}

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.M)
# In C++ a program is the beginning of a string that a shell gets, or the name of a well-known tool.
STARTED = re.compile(
    r'(?:RunTool|Shell|popen|system)\(\s*"([\w.+-]+)[ "]'
    r'|"((?:gcc|g\+\+|clang|clang\+\+|python3|node|wat2wasm|wasm-\w+|llvm-\w+)(?:-\d+)?)[ "]')
CMAKE_CALL = re.compile(r"(?<![\w$])(\w+)\s*\(\s*([^\s()\"]+)")
CMAKE_PROGRAM = re.compile(r"find_program\(\s*\S+\s+(?:NAMES\s+)?([^)]*)\)")
CMAKE_LIBRARY = re.compile(r"find_library\(\s*\S+\s+([\w+.-]+)")
CMAKE_COMMAND = re.compile(r"\bCOMMAND\s+([A-Za-z_][\w.+-]*)(?=[\s)])")
CMAKE_KEYWORD = re.compile(r"^(HINTS|PATHS|REQUIRED|DOC|NO_.*)$")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class PythonFile:
    """What a Python file starts, as far as its assignments and loops tell."""

    def __init__(self, text):
        self.tree = ast.parse(text)
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def programs(self):
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
                continue
            owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            if owner == "subprocess":
                first = self.value(node.args[0])
                program = self.value(first.elts[0]) if isinstance(first, (ast.List, ast.Tuple)) and first.elts else None
                found = self.strings(program) if isinstance(program, ast.Constant) else []
            else:
                found = self.strings(node.args[0]) if (owner, node.func.attr) == ("shutil", "which") else []
            yield from ((name, node.lineno) for name in found)

    def strings(self, node):
        """The strings that an expression, or the elements of a sequence, may be."""
        node = self.value(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return [node.value]
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return [text for element in node.elts for text in self.strings(element)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            return [word for text in self.strings(node.func.value) for word in text.split()]
        return []

    def value(self, node):
        """What a name stands for: the sequence that a loop around it goes through, or what the innermost scope assigns."""
        if not isinstance(node, ast.Name):
            return node
        scope = node
        while scope in self.parents:
            scope = self.parents[scope]
            loops = [scope] if isinstance(scope, ast.For) else getattr(scope, "generators", [])
            for loop in loops:
                if isinstance(loop.target, ast.Name) and loop.target.id == node.id and loop.iter is not node:
                    return self.value(loop.iter)
            if isinstance(scope, (ast.FunctionDef, ast.Module)):
                for other in ast.walk(scope):
                    if isinstance(other, ast.Assign) and any(isinstance(t, ast.Name) and t.id == node.id for t in other.targets):
                        return other.value
        return node


def cmake_programs(text, made):
    for match in CMAKE_PROGRAM.finditer(text):
        words = match.group(1).split()
        stop = next((i for i, word in enumerate(words) if CMAKE_KEYWORD.match(word)), len(words))
        yield tuple(words[:stop]), line_of(text, match.start())  # any of them will do
    for match in CMAKE_COMMAND.finditer(text):
        if match.group(1) not in made:
            yield match.group(1), line_of(text, match.start())


def shell_parts(file, text):
    """The parts of a file that a shell reads, with the line before their first."""
    if file.suffix == ".sh" or text.startswith(("#!/usr/bin/env bash", "#!/bin/sh")):
        yield text, 0
    lines = enumerate(text.splitlines())
    if file.suffix == ".test":
        yield from ((line.partition("RUN:")[2].replace("%frazil", "frazil"), n) for n, line in lines if line.startswith("RUN:"))
    elif file.suffix == ".md":
        shown = False
        for n, line in lines:
            shown = line == "```console" if line.startswith("```") else shown
            if shown and line.startswith("$ "):
                yield line[2:], n
    elif file.name == "Makefile":
        yield from ((re.sub(r"\$\([^)]*\)", "x", line[1:].lstrip("@-")).replace("$$", "$"), n)
                    for n, line in lines if line.startswith("\t"))


def uses(files, root):
    """(kind, name or names, where): headers, programs and libraries that the tree takes from the system."""
    texts = {file: file.read_bytes().decode("utf-8", errors="replace") for file in files}
    made = {name for file, text in texts.items() if file.name == "CMakeLists.txt" or file.suffix == ".cmake"
            for call, name in CMAKE_CALL.findall(text) if not call.startswith("find_")}
    for file, text in texts.items():
        name = file.relative_to(root).as_posix()
        if file.suffix in (".cpp", ".h", ".c", ".inc", ".sh"):
            for match in INCLUDE.finditer(text):
                yield "header", match.group(1), f"{name}:{line_of(text, match.start())}"
        if file.suffix in (".cpp", ".h"):
            for match in STARTED.finditer(text):
                program = match.group(1) or match.group(2)
                if program not in shell_words.BUILTINS:
                    yield "program", program, f"{name}:{line_of(text, match.start())}"
        elif file.suffix == ".py":
            yield from (("program", program, f"{name}:{line}") for program, line in PythonFile(text).programs())
        elif file.name == "CMakeLists.txt" or file.suffix == ".cmake":
            yield from (("program", program, f"{name}:{line}") for program, line in cmake_programs(text, made))
            for match in CMAKE_LIBRARY.finditer(text):
                yield "library", match.group(1), f"{name}:{line_of(text, match.start())}"
        for part, before in shell_parts(file, text):
            yield from (("program", program, f"{name}:{before + line}") for program, line in shell_words.programs(part))


def path_of(kind, name):
    """Where the system has it; None where it does not."""
    if name.startswith("/"):
        return name if os.path.exists(name) else None
    folders, file = {"header": (INCLUDE_FOLDERS, name), "program": (PROGRAM_FOLDERS, name),
                     "library": (LIBRARY_FOLDERS, f"lib{name}.so")}[kind]
    return next((f"{folder}/{file}" for folder in folders if os.path.exists(f"{folder}/{file}")), None)


def wanted_packages(root):
    """The packages of packages.txt, each with the command that its second word names ("" where there is none)."""
    lines = [line.split() for line in (root / "scripts/packages.txt").read_text().splitlines()
             if line.strip() and not line.startswith("#")]
    return {words[0]: words[1] if len(words) > 1 else "" for words in lines}


def of_the_tree(root, name):
    """A script by its path, or a header as an installed package has it."""
    return "/" in name and ((root / name).is_file() or (root / "src" / name).is_file())


def problems_of(root, system, owners):
    roots = wanted_packages(root)
    commands = set(roots.values())
    # Where only installed packages are known, one whose command came from elsewhere may well be unknown.
    problems = [f"scripts/packages.txt: no package is called {name}" for name, command in roots.items()
                if not system.real(name) and (system.whole or not command)]
    closure = system.closure(roots, system.base())
    places = {}
    for kind, names, place in uses(tracked(root), root):
        names = (names,) if isinstance(names, str) else names
        if not names or any(name in GENERATED | OURS | OPTIONAL.keys() | commands or of_the_tree(root, name) for name in names):
            continue
        places.setdefault((kind, names), place)  # the first place is enough
    paths = {key: [path_of(key[0], name) for name in key[1]] for key in places}
    holders = owners({path for found in paths.values() for path in found if path})
    for (kind, names), place in sorted(places.items(), key=lambda item: item[1]):
        what = f"the {kind} {' or '.join(f'<{name}>' if kind == 'header' else name for name in names)}"
        found = [path for path in paths[kind, names] if path]
        held = {package for path in found for package in holders[path]}
        if not found:
            problems.append(f"{place}: {what} is not on this machine; does scripts/packages.txt ask for its package?")
        elif not held:
            problems.append(f"{place}: {what} belongs to no package ({found[0]})")
        elif not held & closure:
            problems.append(f"{place}: {what} belongs to {', '.join(sorted(held))}, which scripts/packages.txt does not bring")
    return problems, len(places)


def main(root, system=None, owners=packages.owners):
    if system is None and not packages.available():
        print("[SKIP] this machine has no dpkg, so nobody knows which package a file belongs to")
        return 77
    problems, count = problems_of(root, system or packages.here(), owners)
    print("\n".join(problems) if problems else
          f"{count} headers, programs and libraries all come with scripts/packages.txt or the base system")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
