#!/usr/bin/env python3
"""What schemata.py makes of texts that stand once, not at all, twice, one inside another, and across each other."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import schemata  # noqa: E402

SOURCE = """// a < b is a comment
int F(int a, int b) {
  if (a <
      b) return a + b;
  G(a);
  return H(1) + H(2) + H(1);
}
"""


def made(*mutations):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.mutants"
        path.write_text("file x.cpp\n" + "".join(f"\n{number} class\n{text}" for number, text in mutations))
        return schemata.mutated(SOURCE, schemata.read_list(path)[1], "x.cpp")


class Schemata(unittest.TestCase):
    def test_expression_whatever_its_spaces(self):
        self.assertIn("(::frazil::mutants::Is(7) ? (a <= b) : (a <\n      b))", made((7, "  - a < b\n  + a <= b\n")))

    def test_statement(self):
        self.assertIn("if (::frazil::mutants::Is(7)) { ; } else { G(a); }", made((7, "  - G(a);\n  + ;\n")))

    def test_same_text_and_nested_text(self):
        text = made((1, "  - a + b\n  + a - b\n"), (2, "  - a + b\n  + b\n"), (3, "  - return a + b;\n  + return 0;\n"))
        self.assertIn("if (::frazil::mutants::Is(3)) { return 0; } else { return (::frazil::mutants::Is(2) ? (b) : "
                      "((::frazil::mutants::Is(1) ? (a - b) : (a + b)))); }", text)

    def test_context(self):
        self.assertIn("return (::frazil::mutants::Is(4) ? (H(3)) : (H(1))) + H(2) + H(1)",
                      made((4, "  @ H(1) + H(2)\n  - H(1)\n  + H(3)\n")))

    def refuses(self, words, *mutations):
        with self.assertRaises(schemata.Mistake) as caught:
            made(*mutations)
        self.assertIn(words, str(caught.exception))

    def test_refuses(self):
        self.refuses("mutation 5 (class, x.mutants:3): its text occurs 0 times", (5, "  - a > b\n  + a\n"))
        self.refuses("mutation 5 (class, x.mutants:3): its text occurs 2 times", (5, "  - H(1)\n  + a\n"))
        self.refuses("its context occurs 0 times", (5, "  @ K(1)\n  - 1\n  + a\n"))
        self.refuses("their texts overlap", (5, "  - H(1) + H(2)\n  + a\n"), (6, "  - H(2) + H(1)\n  + a\n"))
        self.refuses("needs a text", (5, "  - a + b\n"))


if __name__ == "__main__":
    unittest.main()
