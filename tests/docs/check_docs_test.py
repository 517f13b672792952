#!/usr/bin/env python3
"""The checks of documents find what is planted; check_docs.py with a stand-in for frazil that prints a given text."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_docs.py")
STARTS = CHECK.with_name("run_starts.py")
LINKS = CHECK.with_name("check_links.py")
SPELLING = CHECK.with_name("check_spelling.py")
PRINTED = """      0.72 ms  dispatch  solid: 2.6 times as fast
  saved       143 ns a call instead of 599 ns; 166913 calls seen, 52.4 ms saved
  answers     bit for bit
"""


class Documents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.frazil = self.root / "frazil"
        (self.root / "printed").write_text(PRINTED)
        self.frazil.write_text(f"#!/bin/sh\ncat {self.root}/printed\n")
        self.frazil.chmod(0o755)
        self.page = self.root / "page.md"

    def check(self, text, *flags):
        self.page.write_text(f"# Page\n\n```console\n$ frazil why\n{text}```\n")
        done = subprocess.run([sys.executable, CHECK, "--frazil", self.frazil, "--root", self.root, *flags, self.page],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_finds(self, text, sentence):
        code, told = self.check(text)
        self.assertEqual(code, 1, told)
        self.assertIn(sentence, told)

    def test_as_printed(self):
        self.assertEqual(self.check(PRINTED)[0], 0)

    def test_figures_of_another_run(self):
        self.assertEqual(self.check(PRINTED.replace("143 ns", "1.43 us").replace("2.6 times", "7.1 times"))[0], 0)
        self.assertEqual(self.check(PRINTED.replace("52.4 ms", "8 us"))[0], 0)  # one late moment
        self.assertEqual(self.check("...\n" + PRINTED.replace("599 ns", "210 ns").split("\n", 1)[1])[0], 0)

    def test_figures_of_another_order(self):
        for old, new in (("599 ns", "58.6 us"), ("2.6 times", "102.6 times"), ("166913 calls", "400 calls"), ("143 ns", "1.1 ns"),
                         ("0.72 ms", "1.2 s"), ("52.4 ms", "52.4 s")):
            with self.subTest(new):
                self.assert_finds(PRINTED.replace(old, new), "figures of another order of magnitude")
                line = next(line for line in PRINTED.splitlines() if old in line)
                self.assert_finds("...\n" + line.replace(old, new) + "\n...\n", "figures of another order of magnitude")

    def test_other_words(self):
        code, told = self.check(PRINTED.replace("bit for bit", "wrong"))
        self.assertEqual(code, 1)
        self.assertNotIn("order of magnitude", told)
        self.assert_finds("...\n  answers     wrong\n", "expected (exit 0)")

    def test_update_of_shown_lines(self):
        self.check("...\n" + PRINTED.splitlines()[1].replace("599 ns", "58.6 us") + "\n...\n", "--update")
        self.assertIn("...\n" + PRINTED.splitlines()[1] + "\n...\n", self.page.read_text())


class Starts(unittest.TestCase):
    GOOD = ("cat > made <<'END'\nseven\nEND\n", ""), ("cat made\necho 3.1 ms\n", "seven\n2.5 ms\n"), ("echo a; echo b; echo c\n", "...\nb\n...\n")

    def check(self, starts):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            page = root / "page.md"
            page.write_text("".join(f"Words.\n\n```sh\n{script}```\n\n```text\n{printed}```\n\n" for script, printed in starts))
            done = subprocess.run([sys.executable, STARTS, page, "--scratch", root / "scratch"], capture_output=True, text=True,
                                  check=False)
            return done.returncode, done.stdout + done.stderr

    def test_as_pasted(self):
        code, told = self.check(self.GOOD)
        self.assertEqual((code, told.count("passed")), (0, 3), told)

    def test_planted(self):
        for start in (("echo eight\n", "seven\n"), ("echo seven; false\n", "seven\n"), ("false\necho seven\n", "seven\n"),
                      ("false | cat\necho seven\n", "seven\n"), ("echo 3.1 s\n", "2.5 ms\n")):
            with self.subTest(start):
                code, told = self.check((*self.GOOD, start))
                self.assertEqual((code, told.count("failed:")), (1, 1), told)

    def test_left_out(self):
        self.assertIn("at least 3 are wanted", self.check(self.GOOD[:2])[1])
        with_more = (*self.GOOD, ("echo x\n```\n\nWords.\n\n```sh\necho y\n", "y\n"))  # x: nobody says what it prints
        self.assertIn("5 starts, 4 of them", self.check(with_more)[1])


class Links(unittest.TestCase):
    GOOD = "# One page\n\n[it](#one-page) [b](sub/b.md#a-part-of-it-20) [c](sub/) [d](https://x.y/z) `[e](gone.md)`\n"

    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "sub").mkdir()
            (root / "sub/b.md").write_text("## A part of `it`, \"2.0\"\n\n```\n# no heading\n[f](gone.md)\n```\n")
            (root / "a.md").write_text(text)
            done = subprocess.run([sys.executable, LINKS, root], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    def test_good(self):
        self.assertEqual(self.check(self.GOOD), (0, "the links of 2 documents lead somewhere\n"))

    def test_planted(self):
        for link, what in (("gone.md", "file"), ("sub/b.md#no-heading", "heading"), ("#two", "heading"), ("sub/gone#x", "file")):
            with self.subTest(link):
                code, told = self.check(self.GOOD + f"\n[g]({link})\n")
                self.assertEqual((code, told), (1, f"a.md: {link}: there is no such {what}\n"))


class Spelling(unittest.TestCase):
    def test_planted(self):
        for word, planted in (("behavior, optimizer, colors, labeled, raise, promise, otherwise", False), ("behavi" + "our", True),
                              ("Optim" + "ised", True), ("label" + "led", True), ("canonical" + "ising", True)):
            with self.subTest(word), tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "a.md").write_text(f"One.\nTwo {word} three.\n")
                done = subprocess.run([sys.executable, SPELLING, folder], capture_output=True, text=True, check=False)
                told = f"a.md:2:{word}\n\n" if planted else "1 files are spelled as in America\n"
                self.assertEqual((done.returncode, done.stdout), (int(planted), told))


if __name__ == "__main__":
    unittest.main()
