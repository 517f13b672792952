#!/usr/bin/env python3
"""bench/rows.py on a small project of its own: nothing can be left out of the benchmarks' tables, and stale rows are told."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import rows  # noqa: E402

DOCUMENT = """# Benchmarks

<!-- table main: made -->
<!-- end of table -->

Words in between.

<!-- table run: made -->
<!-- end of table -->
"""


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.put("src/store/store.cpp", "int x;\n")
        self.put("docs/benchmarks.md", DOCUMENT)
        self.git("init", "-q")
        self.commit = self.save("first")
        self.row = {"area": "store", "figure": "open, twice", "ours": "3 / 4 ms", "peer": "", "ratio": "", "goal": "<= 5 ms",
                    "met": True, "commit": self.commit, "date": "2026-01-02", "machine": "m", "table": "main",
                    "from": ["store: open once", "store: open again"], "form": "{} / {} ms"}
        self.write([self.row])
        self.render()

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def git(self, *words):
        return subprocess.run(["git", "-C", self.root, "-c", "user.name=x", "-c", "user.email=x@x", *words], check=True,
                              capture_output=True, text=True).stdout.strip()

    def save(self, subject):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "--short", "HEAD")

    def write(self, all_rows):
        self.put("bench/recorded/results.json", rows.dump({"machines": {"m": "a machine"}, "rows": all_rows}))

    def render(self):
        self.put("docs/benchmarks.md", rows.rendered(self.root))

    def told(self, function, *arguments, **named):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = function(*arguments, **named, root=self.root)
        return code, output.getvalue()

    def assert_finds(self, sentence):
        code, output = self.told(rows.check)
        self.assertEqual(code, 1, output)
        self.assertIn(sentence, output)

    def test_as_recorded(self):
        self.assertEqual(self.told(rows.check), (0, "1 rows are as recorded, 0 of them stale\n"))
        self.assertIn(f"| store | open, twice | 3 / 4 ms | | | <= 5 ms | yes | `{self.commit}` 2026-01-02, m |",
                      (self.root / "docs/benchmarks.md").read_text())

    def test_row_left_out_or_made_better(self):
        text = (self.root / "docs/benchmarks.md").read_text()
        line = next(line for line in text.splitlines() if line.startswith("| store"))
        self.put("docs/benchmarks.md", text.replace(line + "\n", ""))
        self.assert_finds("is not what bench/recorded/results.json says")
        self.put("docs/benchmarks.md", text.replace("3 / 4 ms", "1 / 2 ms"))
        self.assert_finds("is not what bench/recorded/results.json says")
        self.write([self.row, {**self.row, "figure": "missed", "met": False}])
        self.assert_finds("is not what bench/recorded/results.json says")

    def test_row_of_no_table(self):
        self.write([{**self.row, "table": "attic"}])
        self.assert_finds("docs/benchmarks.md has no table attic")

    def test_row_without(self):
        for key in ("commit", "date", "machine", "ours"):
            with self.subTest(key):
                self.write([{**self.row, key: ""}])
                self.assert_finds(f"no {key}")
        self.write([{**self.row, "commit": "yesterday"}])
        self.assert_finds("'yesterday' is no commit")
        self.write([{**self.row, "area": "unheard of"}])
        self.assert_finds("no folders")
        self.write([{**self.row, "folders": ["src/gone"]}])
        self.assert_finds("the folder src/gone does not exist")

    def test_area_of_a_benchmark(self):
        self.put("bench/x_bench.cpp", 'Report({"unheard of", "x", 1});\n')
        self.assert_finds("the area unheard of is not in FOLDERS")

    def test_stale(self):
        self.put("src/store/store.cpp", "int y;\n")
        self.save("second")
        code, output = self.told(rows.check)
        self.assertEqual(code, 0)
        self.assertIn(f"stale since {self.commit}: store: open, twice (src/store)", output)
        self.write([{**self.row, "folders": ["docs"]}])
        self.assertNotIn("src/store", self.told(rows.check)[1])

    def test_no_history(self):
        self.write([{**self.row, "commit": "0123456"}])
        self.render()
        code, output = self.told(rows.check)
        self.assertEqual(code, 0)
        self.assertIn("does not have the commit 0123456", output)

    def test_a_run(self):
        run = self.root / "run"
        self.put("run/results.json", json.dumps([
            {"area": "store", "figure": "open once (median 2.5)", "ours": 2.04, "unit": "ms", "ratio": None, "goal": "-", "met": True},
            {"area": "store", "figure": "open again", "ours": 7, "unit": "ms", "ratio": None, "goal": "<= 5 ms", "met": False}]))
        commit = self.save("measured")
        code, output = self.told(rows.collect, run)
        self.assertIn("1 miss their goal\n  store: open again", output)
        self.assertEqual(self.told(rows.record, run / "results.json")[0], 0)
        self.render()
        self.assertEqual(self.told(rows.check)[0], 0)
        text = (self.root / "docs/benchmarks.md").read_text()
        self.assertIn(f"| store | open, twice | 2.04 / 7 ms | | | <= 5 ms | no | `{commit}`", text)
        self.assertIn(f"| store | open again | 7 ms | | | <= 5 ms | no | `{commit}`", text)
        # The same figures again replace their rows, whatever they tell of medians.
        again = [{**row, "figure": row["figure"].replace("2.5", "2.6")} for row in json.loads((run / "results.json").read_text())]
        self.put("run/results.json", json.dumps(again))
        self.told(rows.record, run / "results.json")
        self.assertEqual(len(rows.load(self.root)["rows"]), 3)

    def test_a_run_of_no_commit(self):
        self.put("run/results.json", json.dumps([{"area": "store", "figure": "x", "ours": 1, "goal": "-", "met": None}]))
        self.put("src/store/store.cpp", "int changed;\n")
        self.told(rows.collect, self.root / "run")
        self.assertEqual(self.told(rows.record, self.root / "run/results.json")[0], 1)


if __name__ == "__main__":
    unittest.main()
