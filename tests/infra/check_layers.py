#!/usr/bin/env python3
"""Checks that src/ includes downward only and tools/ what each tool may, as layers.py says, and that CMake links the same way."""

import pathlib
import re
import sys

from layers import (
    ABOVE, FOR_TESTS, GROUPS, LEVELS, MAKERS, SHARED, SPECIAL, SYSTEM_FOLDERS, SYSTEM_HEADERS, THIRD_PARTY, TOOLS, TOOLS_THIRD_PARTY)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TEST_FILE = re.compile(r"_test\.cpp$|/test_\w+\.h$")
LIBRARY = re.compile(r"^frazil_library\((\S+?)(?:\s+([^)]*))?\)", re.MULTILINE)


def unit_of(path):
    """The library a path belongs to: ("ir",) or ("targets", "wasm")."""
    parts = pathlib.PurePosixPath(path).parts
    own_library = parts[0] in GROUPS or parts[:2] in ABOVE
    return parts[:2] if own_library and len(parts) > 2 else parts[:1]


def known(unit):
    return unit[0] in LEVELS or unit[0] in SPECIAL or unit[0] in FOR_TESTS


def allowed(user, used):
    """Whether the library `user` may include the library `used`."""
    if user == used:
        return True
    if user[0] in FOR_TESTS:
        return used[0] in FOR_TESTS[user[0]]
    if used[0] in FOR_TESTS:
        return False  # but for test files: include_problem
    if user[0] in SPECIAL:
        return used[0] in SPECIAL[user[0]]
    if used[0] in SPECIAL:
        return False
    if user in SHARED.get(used, ()):
        return True
    if user[0] == used[0]:  # a group's own files and its sub-folders, or two sub-folders
        return len(used) == 1 and (used[0] in GROUPS or user in ABOVE)
    return LEVELS[used[0]] < LEVELS[user[0]]


def third_party_problem(path, header):
    first = header.split("/")[0]
    if first in THIRD_PARTY:
        places = THIRD_PARTY[first]
        if TEST_FILE.search(path) and "test" in places:
            return None
        if any(path.startswith(place) for place in places if place != "test"):
            return None
        return f"<{header}> may not be included here"
    if first in SYSTEM_FOLDERS or header in SYSTEM_HEADERS or not header.endswith((".h", ".hpp")):
        return None
    return f"<{header}> is not known to tests/infra/layers.py"


def include_problem(source, path, kind, header):
    if kind == "<":
        return third_party_problem(path, header)
    if "/" not in header:
        # Generated text has no folder; everything else is named from src/.
        return None if header.endswith(".inc") else f'"{header}" must be named from src/'
    user, used = unit_of(path), unit_of(header)
    if not known(used):
        return third_party_problem(path, header)
    if not (source / header).exists():
        return f'"{header}" does not exist'
    if not allowed(user, used) and not (used[0] in FOR_TESTS and TEST_FILE.search(path)):
        return f'"{header}": {"/".join(user)} may not include {"/".join(used)}'
    if "/internal/" in header and user != used and not (user in ABOVE and user[:1] == used):
        return f'"{header}" is internal to {"/".join(used)}'
    if header in MAKERS and user != used and not TEST_FILE.search(path):
        return f'"{header}": only {"/".join(used)} makes what it makes'
    return None


def check_includes(source):
    problems = []
    for file in sorted(source.rglob("*")):
        if file.suffix not in (".h", ".cpp"):
            continue
        path = file.relative_to(source).as_posix()
        if not known(unit_of(path)):
            problems.append(f"src/{path}: its folder is not in tests/infra/layers.py")
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            problem = match and include_problem(source, path, *match.groups())
            if problem:
                problems.append(f"src/{path}:{number}: {problem}")
    return problems


def tool_problem(root, file, tool, kind, header):
    first = header.split("/")[0]
    if kind == "<":
        return None if first in TOOLS_THIRD_PARTY else third_party_problem(f"tools/{tool}/", header)
    if "/" not in header:
        places = (file.parent, root / "tools" / tool)
        own = any((place / header).exists() for place in places) or header.endswith(".inc")
        return None if own else f'"{header}" is neither beside this file nor in tools/{tool}'
    if first == "tools" or header.startswith("."):
        return f'"{header}": no tool includes another one\'s files'
    places = {first, "/".join(header.split("/")[:2])}
    if not places & TOOLS[tool]:
        return f'"{header}": tools/{tool} may not include {first} (tests/infra/layers.py)'
    if not any((root / base / header).exists() for base in ("src", "tests")):
        return f'"{header}" does not exist'
    if "/internal/" in header:
        return f'"{header}" is internal to {first}'
    return f'"{header}": only {first} makes what it makes' if header in MAKERS else None


def check_tools(root):
    problems = []
    for file in sorted((root / "tools").rglob("*")):
        if file.suffix not in (".h", ".cpp"):
            continue
        path = file.relative_to(root).as_posix()
        tool = file.relative_to(root / "tools").parts[0]
        if tool not in TOOLS:
            problems.append(f"{path}: its folder is not in tests/infra/layers.py")
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            problem = match and tool_problem(root, file, tool, *match.groups())
            if problem:
                problems.append(f"{path}:{number}: {problem}")
    return problems


def check_cmake(root):
    """Every library of CMakeLists.txt depends on allowed ones only."""
    problems = []
    for match in LIBRARY.finditer((root / "CMakeLists.txt").read_text()):
        words = (match.group(2) or "").split()
        depends = words[words.index("DEPENDS") + 1 :] if "DEPENDS" in words else []
        user = unit_of(match.group(1) + "/x")
        for word in depends:
            if word.isupper():  # the next keyword
                break
            if not allowed(user, unit_of(word + "/x")):
                problems.append(f"CMakeLists.txt: {match.group(1)} may not depend on {word}")
    return problems


def main(root):
    problems = check_includes(root / "src") + check_tools(root) + check_cmake(root)
    print("\n".join(problems) if problems else "every include goes downward")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
