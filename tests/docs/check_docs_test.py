#!/usr/bin/env python3
"""check_docs.py finds what is planted in a document, with a stand-in for frazil that prints a given text."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_docs.py")
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


if __name__ == "__main__":
    unittest.main()
