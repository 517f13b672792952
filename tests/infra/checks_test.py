#!/usr/bin/env python3
"""Each check of the tree finds what is planted for it, and passes a tree without fault.

Usage: checks_test.py CXX_COMPILER
"""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_checker
import check_format
import check_layers
import check_leaks
import check_packages
import check_readmes
import check_sizes
import check_symbols
import packages
import shell_words

COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else "c++"
README = "# {}: charter\n**Entry:** `{}`\n**Not here:** x\n**One more:** y\n"


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.put("CMakeLists.txt", "frazil_library(base)\nfrazil_library(ir DEPENDS base LINK dl)\n")
        self.put("src/base/base.h", "#include <vector>\n#include <sys/mman.h>\n#include <fmt/format.h>\n")
        self.put("src/ir/ir.h", '#include "base/base.h"\n')
        self.put("src/targets/c/c.h", '#include "ir/ir.h"\n')

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run_check(self, check, *arguments):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = check.main(*(arguments or (self.root,)))
        return code, output.getvalue()

    def assert_passes(self, check):
        code, output = self.run_check(check)
        self.assertEqual(code, 0, output)

    def assert_finds(self, check, text):
        code, output = self.run_check(check)
        self.assertEqual(code, 1)
        self.assertIn(text, output)
        self.assertEqual(len(output.splitlines()), 1, output)


class Layers(Tree):
    def test_sound_tree(self):
        self.assert_passes(check_layers)

    def test_upward(self):
        self.put("src/base/base.h", '#include "ir/ir.h"\n')
        self.assert_finds(check_layers, "base/base.h:1: \"ir/ir.h\": base may not include ir")

    def test_same_level(self):
        self.put("src/frontends/words/words.h", '#include "targets/c/c.h"\n')
        self.assert_finds(check_layers, "frontends/words may not include targets/c")

    def test_sub_folders_of_a_group(self):
        self.put("src/targets/wasm/wasm.h", '\n#include "targets/c/c.h"\n')
        self.assert_finds(check_layers, "wasm.h:2: \"targets/c/c.h\": targets/wasm may not include")

    def test_monitor_sees_base_only(self):
        self.put("src/monitor/tape.h", '#include "base/base.h"\n')
        self.assert_passes(check_layers)
        self.put("src/monitor/tape.h", '#include "ir/ir.h"\n')
        self.assert_finds(check_layers, "monitor may not include ir")

    def test_internal(self):
        self.put("src/ir/internal/pool.h", "")
        self.put("src/ir/pool.cpp", '#include "ir/internal/pool.h"\n')
        self.assert_passes(check_layers)
        self.put("src/targets/c/c.h", '#include "ir/internal/pool.h"\n')
        self.assert_finds(check_layers, "is internal to ir")

    def test_makers(self):
        self.put("src/verify/judge.h", "")
        self.put("src/verify/examine.cpp", '#include "verify/judge.h"\n')
        self.put("src/store/store_test.cpp", '#include "verify/judge.h"\n')
        self.assert_passes(check_layers)
        self.put("src/store/store.cpp", '#include "verify/judge.h"\n')
        self.assert_finds(check_layers, "only verify makes what it makes")

    def test_library_above_its_folder(self):
        self.put("src/verify/internal/terms.h", "")
        self.put("src/verify/smt/smt.h", '#include "verify/internal/terms.h"\n')
        self.put("CMakeLists.txt", "frazil_library(verify)\nfrazil_library(verify/smt DEPENDS verify)\n")
        self.assert_passes(check_layers)
        self.put("src/verify/verify.h", '#include "verify/smt/smt.h"\n')
        self.assert_finds(check_layers, "verify may not include verify/smt")

    def test_missing_header(self):
        self.put("src/ir/ir.h", '#include "base/gone.h"\n')
        self.assert_finds(check_layers, "does not exist")

    def test_path_not_from_src(self):
        self.put("src/ir/ir.h", '#include "other.h"\n')
        self.assert_finds(check_layers, "must be named from src/")

    def test_third_party(self):
        self.put("src/ir/ir_test.cpp", "#include <gtest/gtest.h>\n")
        self.put("src/targets/native/emit.cpp", "#include <llvm/IR/IRBuilder.h>\n")
        self.assert_passes(check_layers)
        self.put("src/ir/ir.cpp", "#include <llvm/IR/IRBuilder.h>\n")
        self.assert_finds(check_layers, "<llvm/IR/IRBuilder.h> may not be included here")

    def test_third_party_in_quotes(self):
        self.put("src/ir/ir.cpp", '#include "nlohmann/json.hpp"\n')
        self.assert_finds(check_layers, "may not be included here")

    def test_unknown_header(self):
        self.put("src/ir/ir.cpp", "#include <boost/any.hpp>\n")
        self.assert_finds(check_layers, "is not known")

    def test_unknown_folder(self):
        self.put("src/extra/x.h", "")
        self.assert_finds(check_layers, "its folder is not in")

    def test_tools(self):
        self.put("tools/frazil/cli.h", '#include <CLI/CLI.hpp>\n#include "ir/ir.h"\n')
        self.put("tools/frazil/main.cpp", '#include "cli.h"\n#include "targets/c/c.h"\n')
        self.assert_passes(check_layers)
        for include, sentence in {
            '"targets/c/c.h"': "may not include targets",  # not in the table of this tool
            '"cli.h"': "is neither beside this file nor in tools/manual",
            '"tools/frazil/cli.h"': "no tool includes another one's files",
            '"../frazil/cli.h"': "no tool includes another one's files",
            '"ir/gone.h"': "does not exist",
            '"ir/internal/pool.h"': "is internal to ir",
            '<llvm/IR/IRBuilder.h>': "may not be included here",
            '<boost/any.hpp>': "is not known",
        }.items():
            with self.subTest(include):
                self.put("src/ir/internal/pool.h", "")
                self.put("tools/manual/main.cpp", f"\n#include {include}\n")
                self.assert_finds(check_layers, sentence)
        self.put("tools/manual/main.cpp", "")
        self.put("tools/extra/main.cpp", "")
        self.assert_finds(check_layers, "tools/extra/main.cpp: its folder is not in")

    def test_rooms_of_a_tool(self):
        self.put("tools/frazil/cli.h", "")
        self.put("tools/frazil/room/own.h", "")
        self.put("tools/frazil/room/a.cpp", '#include "cli.h"\n#include "own.h"\n')
        self.assert_passes(check_layers)
        self.put("tools/frazil/other/b.cpp", '#include "own.h"\n')
        self.assert_finds(check_layers, '"own.h" is neither beside this file nor in tools/frazil')

    def test_nothing_includes_a_tool(self):
        self.put("tools/frazil/cli.h", "")
        self.put("src/ir/ir.cpp", '#include "tools/frazil/cli.h"\n')
        self.assert_finds(check_layers, "is not known")
        self.put("src/ir/ir.cpp", '#include "cli.h"\n')
        self.assert_finds(check_layers, "must be named from src/")

    def test_cmake(self):
        self.put("CMakeLists.txt", "frazil_library(base DEPENDS ir)\n")
        self.assert_finds(check_layers, "base may not depend on ir")


class Sizes(Tree):
    def test_ceilings(self):
        self.put("src/ir/ops.def", "x\n" * 900)
        self.put("src/ir/a.cpp", "x\n" * 600)
        self.put("src/ir/a.h", "x\n" * 250)
        self.assert_passes(check_sizes)
        self.put("src/ir/a.h", "x\n" * 251)
        self.assert_finds(check_sizes, "src/ir/a.h: 251 lines")
        self.put("src/ir/a.h", "")
        self.put("tools/worker/a.cpp", "x\n" * 601)
        self.assert_finds(check_sizes, "tools/worker/a.cpp: 601 lines")

    def test_commands_are_thin(self):
        self.put("tools/frazil/a.cpp", "x\n" * 150)
        self.put("tools/frazil/rooms/a.h", "x\n" * 150)
        self.put("tools/worker/a.cpp", "x\n" * 151)
        self.assert_passes(check_sizes)
        self.put("tools/frazil/a.cpp", "x\n" * 151)
        self.assert_finds(check_sizes, "tools/frazil/a.cpp: 151 lines, 150 is the ceiling")
        self.put("tools/frazil/a.cpp", "")
        self.put("tools/frazil/rooms/a.h", "x\n" * 151)
        self.assert_finds(check_sizes, "tools/frazil/rooms/a.h: 151 lines, 150 is the ceiling")

    def test_folders_have_rooms(self):
        for i in range(40):
            self.put(f"src/engine/a{i}.cpp", "")
            self.put(f"src/engine/worker/a{i}.cpp", "")
            self.put(f"tests/many/a{i}.cpp", "")
        self.put("src/engine/.hidden", "")
        self.put("tests/many/b.cpp", "")
        self.assert_passes(check_sizes)
        self.put("src/engine/worker/b.cpp", "")
        self.assert_finds(check_sizes, "src/engine/worker: 41 files, 40 is the most; make rooms")


class Checker(Tree):
    def test_lines(self):
        for ceiling, files in check_checker.PARTS.values():
            for file in files:
                self.put(f"src/verify/{file}", "// why\n\nint x;\n")
        counts = {part: len(files) for part, (_, files) in check_checker.PARTS.items()}
        self.put(check_checker.DOCUMENT, ", ".join(f"{part} {count}" for part, count in counts.items()))
        self.assert_passes(check_checker)
        self.put("src/verify/certificates/terms.cpp", '#include "verify/internal/terms.h"\n')
        self.assert_passes(check_checker)
        self.put("src/verify/certificates/terms.cpp", '#include "verify/internal/pair.h"\n')
        self.assert_finds(check_checker, "includes verify/internal/pair.h")
        self.put("src/verify/certificates/terms.cpp", "int x;\nint y;\n")
        self.assert_finds(check_checker, "does not say")
        self.put("src/verify/certificates/terms.cpp", "int x;\n" * 2000)
        code, output = self.run_check(check_checker)
        self.assertEqual(code, 1)
        self.assertIn("is the ceiling", output)


class Format(Tree):
    def test_style(self):
        self.put(".clang-format", "BasedOnStyle: Google\nSortIncludes: Never\n")
        self.put("src/ir/a.cpp", "int a = 1;\n")
        self.assert_passes(check_format)
        self.put("src/ir/a.cpp", "int a=1;\n")
        self.assert_finds(check_format, "src/ir/a.cpp: not formatted")


class Readmes(Tree):
    def setUp(self):
        super().setUp()
        for name in ("base", "ir", "targets", "targets/c"):
            self.put(f"src/{name}/README.md", README.format(name, "base/base.h"))

    def test_sound_tree(self):
        self.assert_passes(check_readmes)

    def test_missing(self):
        self.put("src/targets/wasm/wasm.h", "")
        self.assert_finds(check_readmes, "src/targets/wasm: README.md is missing")

    def test_long(self):
        self.put("src/ir/README.md", README.format("ir", "ir/ir.h") + "x\n" * 20)
        self.assert_finds(check_readmes, "over 20 lines")

    def test_parts(self):
        self.put("src/ir/README.md", README.format("ir", "ir/ir.h").replace("Not here", "Elsewhere"))
        self.assert_finds(check_readmes, "no **Not here:**")

    def test_entry_header(self):
        self.put("src/ir/README.md", README.format("ir", "ir/gone.h"))
        self.assert_finds(check_readmes, "ir/gone.h does not exist")


class Leaks(Tree):
    def test_sound_tree(self):
        self.put("docs/a.md", "see /usr/include, ./tmp/x, ${HOME}/tmp/x and work/main\n")
        self.assert_passes(check_leaks)

    def test_paths(self):
        for folder in ("work", "root", "home", "tmp"):
            self.put("docs/a.md", f"see `/{folder}/main`\n")
            self.assert_finds(check_leaks, f"docs/a.md:1: a path of one machine: /{folder}/m")

    def test_hosts(self):
        self.put("scripts/a.sh", "fetch https://" + "pypi" + ".org/simple\n")
        self.assert_finds(check_leaks, "the host of a package registry")

    def test_only_tracked_files_count(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.put("docs/a.md", "/" + "home/someone\n")
        self.assert_passes(check_leaks)
        subprocess.run(["git", "-C", self.root, "add", "docs/a.md"], check=True)
        self.assert_finds(check_leaks, "docs/a.md:1")


class Packages(Tree):
    """On a machine of five packages, where everything is installed, asked for or not."""

    LISTS = """
Package: dash
Essential: yes
Priority: required

Package: apt
Depends: awk, libc6 (>= 2)

Package: mawk
Provides: awk

Package: libc6

Package: gawk
Provides: awk

Package: g++
Depends: libc6, libstdc++-dev (>= 12) | libstdc++-old-dev

Package: libstdc++-dev
Depends: libc6-dev:any
Recommends: libgmock-dev

Package: libstdc++-old-dev

Package: libc6-dev

Package: libfmt-dev

Package: libgmock-dev

Package: jq
"""
    OWNERS = {
        "/usr/include/c++/12/vector": "libstdc++-dev", "/usr/include/x86_64-linux-gnu/sys/mman.h": "libc6-dev",
        "/usr/include/fmt/format.h": "libfmt-dev", "/usr/include/gmock/gmock.h": "libgmock-dev", "/usr/bin/jq": "jq",
        "/usr/bin/awk": "mawk", "/usr/bin/sh": "dash", "/usr/bin/cat": "dash", "/usr/bin/not": "g++",
    }

    def setUp(self):
        super().setUp()
        self.put("scripts/packages.txt", "# what we need\ng++\nlibfmt-dev\n")
        path_of, self.installed = check_packages.path_of, set(self.OWNERS)
        self.addCleanup(setattr, check_packages, "path_of", path_of)
        check_packages.path_of = lambda kind, name: next(
            (path for path in sorted(self.installed) if path.endswith("/" + name)), None)

    def check(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = check_packages.main(
                self.root, packages.Packages([self.LISTS]), lambda paths: {path: {self.OWNERS[path]} for path in paths})
        return code, output.getvalue()

    def assert_check(self, *sentences):
        code, output = self.check()
        self.assertEqual(code, 1 if sentences else 0, output)
        for sentence in sentences:
            self.assertIn(sentence, output)
        self.assertEqual(len(output.splitlines()), max(1, len(sentences)), output)

    def test_sound_tree(self):
        self.put("scripts/a.sh", "if awk 1 x; then cd y; fi\n")
        self.assert_check()

    def test_header_of_a_package_that_is_only_recommended(self):
        self.put("src/ir/ir_test.cpp", "#include <gmock/gmock.h>\n")
        self.assert_check("src/ir/ir_test.cpp:1: the header <gmock/gmock.h> belongs to libgmock-dev, which")
        self.put("scripts/packages.txt", "g++\nlibfmt-dev\nlibgmock-dev\n")
        self.assert_check()

    def test_header_of_nobody(self):
        self.put("src/ir/ir.cpp", "\n#include <no/such/library.h>\n")
        self.assert_check("src/ir/ir.cpp:2: the header <no/such/library.h> is not on this machine")

    def test_programs(self):
        for path, text in {
            "scripts/a.sh": "cat <<'END'\njq it\nEND\nx=\"$(jq)\"\n",
            "tests/a.py": 'import shutil\n\nTOOLS = ["jq"]\nprint([shutil.which(tool) for tool in TOOLS])\n',
            "tests/b.py": 'import subprocess\n\nTOOL = "jq"\nsubprocess.run([TOOL, "x"])\n',
            "tests/CMakeLists.txt": "\n\n\nfind_program(JQ NAMES jq REQUIRED)\n",
            "cmake/a.cmake": "add_executable(own x.cpp)\n\n\nadd_test(NAME x COMMAND jq) # COMMAND own\n",
            "tests/lit/a.test": "\n\n\nRUN: not sh -c 'x=1 jq a | awk 1'\n",
            "Makefile": "a:\n\t@awk 1\n\n\t@jq\n",
            "src/ir/a_test.cpp": '\n\n\nint x = RunTool("jq " + path, output);\n',
        }.items():
            with self.subTest(path):
                self.put(path, text)
                self.assert_check(f"{path}:4: the program jq belongs to jq, which scripts/packages.txt does not bring")
            (self.root / path).unlink()

    def test_second_word_names_a_command(self):
        self.put("scripts/a.sh", "jq x\n")
        self.put("scripts/packages.txt", "g++\nlibfmt-dev\njq jq\n")
        self.assert_check()

    def test_package_of_nobody(self):
        self.put("scripts/packages.txt", "g++\nlibfmt-dev\nlibfmd-dev\n")
        self.assert_check("no package is called libfmd-dev")
        self.put("scripts/packages.txt", "g++\nlibfmt-dev\nlibfmd-dev fmd\n")
        self.assert_check("no package is called libfmd-dev")
        problems, _ = check_packages.problems_of(
            self.root, packages.Packages([self.LISTS], whole=False), lambda paths: {path: {self.OWNERS[path]} for path in paths})
        self.assertEqual(problems, [])

    def test_alternatives(self):
        system = packages.Packages([self.LISTS])
        self.assertEqual(system.base(), {"dash", "apt", "mawk", "libc6"})
        self.assertEqual(system.closure(["gawk", "apt"]), {"gawk", "apt", "libc6"})
        self.assertNotIn("libstdc++-old-dev", system.closure(["g++"]))

    def test_words_of_the_shell(self):
        def words(text):
            return [name for name, _ in shell_words.programs(text)]
        self.assertEqual(words('f() { a "$(b "c")" d; }\nif ! f | e; then A=(g h) i=1 j k; fi # l\n'), ["a", "b", "e", "j"])
        self.assertEqual(words("case $x in a|b) c d;; e) f;; esac\ng\n"), ["c", "f", "g"])
        self.assertEqual(words("[[ $(a b) == c ]] && ((x > 1)) || exec d >e <(f g)\n"), ["a", "d", "f"])
        self.assertEqual(words("for a in b c; do d; done; x | xargs -0 -n 1 e f\n"), ["d", "x", "xargs", "e"])

    def test_this_machine(self):
        """The real lists: gmock is in no closure that does not ask for it."""
        if not packages.available():
            self.skipTest("no dpkg")
        system = packages.here()
        self.assertIn("libc6", system.base())
        closure = system.closure(["g++", "libgtest-dev"], system.base())
        self.assertIn("libc6-dev", closure)
        self.assertNotIn("libgmock-dev", closure)


class Symbols(Tree):
    def archive(self, code):
        self.put("x.cpp", code)
        subprocess.run([COMPILER, "-O1", "-c", "x.cpp", "-o", "x.o"], cwd=self.root, check=True)
        subprocess.run(["ar", "crs", "libx.a", "x.o"], cwd=self.root, check=True)
        return self.root / "libx.a"

    def test_calls(self):
        sound = '#include <cstdio>\n#include <string>\nint f(char* p) { return snprintf(p, 9, "%d", 1); }\n'
        self.assertEqual(self.run_check(check_symbols, "nm", [self.archive(sound)])[0], 0)
        for call in (
            'std::printf("%d", x)', 'std::puts("x")', "std::exit(x)", "std::abort()", "std::cerr << x",
            "std::fflush(stdout)", "assert(x)",
        ):
            code = "#include <cassert>\n#include <cstdio>\n#include <cstdlib>\n#include <iostream>\n"
            archive = self.archive(code + f"void f(int x) {{ {call}; }}\n")
            with self.subTest(call):
                self.assertEqual(self.run_check(check_symbols, "nm", [archive])[0], 1)


if __name__ == "__main__":
    unittest.main()
