#!/usr/bin/env python3
"""Every test of the project, layer by layer, each with a time budget, and one closing line "N passed, N failed".

    test.py                   make test: release: all layers; under sanitizers (ASan and UBSan, or TSan: they take turns
                              with each commit) the unit tests of folders that changed and a quarter of the others
    test.py --check           make check: release, and only what a change can touch directly: the trees' own checks,
                              unit tests of changed folders, and the layers that AFFECTS names for them
    test.py --nightly SLICE   make nightly: one slice of all there is (SLICES), or `all` of them

A layer that takes longer than its budget fails: a new part pays for its tests. Budgets are seconds of 2 cores at the pace
of the machine that they were written on; a slower one, or one that is slow today, is measured first and gets as much more
(FRAZIL_BUDGET_SCALE overrides it). A layer whose inputs are what they were when it last passed in this
build folder is not run again and says so; in a fresh clone there is no such folder. Random tests take their seeds
from the commit, so that a failure can be repeated and the next commit looks elsewhere; FRAZIL_TEST_SEED overrides it.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build/test"
JOBS = os.environ.get("JOBS") or str(os.cpu_count())

# Layer -> budget in seconds, and the folders that it does not read.
PROSE = ("docs/", "README.md", "bench/", "LICENSE")
LAYERS = {
    "infra": (120, ()),
    "unit": (300, PROSE),
    "accuracy": (60, PROSE),
    "programs": (200, PROSE),
    "words": (60, PROSE),
    "differential": (480, PROSE),
    "store": (120, PROSE),
    "engine": (180, PROSE),
    "fuzz": (90, PROSE),
    "mutants": (150, PROSE),
    "lit": (90, ("docs/", "bench/", "LICENSE")),
    "docs": (90, ()),
    "install": (150, PROSE),
}
BUILD_BUDGET = {"release": 1500, "dev": 850, "tsan": 480, "gcc": 1200}
SANITIZED_BUDGET = 300

# Two compilers at once on this took so many seconds where the budgets were written (2026-11-17, EPYC without AVX-512).
PACE_SOURCE = """
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
int main(int argc, char** argv) {
  std::map<std::string, std::function<bool(const std::string&)>> tests;
  for (int i = 1; i < argc; ++i)
    tests[argv[i]] = [e = std::regex(argv[i])](const std::string& s) { return std::regex_search(s, e); };
  return static_cast<int>(std::ranges::count_if(tests, [](const auto& t) { return t.second(t.first); }));
}
"""
PACE_SECONDS = 4.5

# Changed path -> tests that `make check` adds to the unit tests of the changed folder.
AFFECTS = [
    (r"src/(base|ir|exec)/", r"^programs\.(interp|batch|canonical|reprinted|lowered|isa|wasm)$"),
    (r"src/(machines/simt|targets/(isa|tiles))/", r"^programs\.isa"),
    (r"src/targets/(llvm|native)/", r"^(programs\.native|kernels\.golden|guard)"),
    (r"src/targets/wasm/", r"^(programs\.wasm|words\.)"),
    (r"src/targets/c/", r"^programs\.c-"),
    (r"src/(targets|machines)/(tasm|tir)/|src/frontends/(trident|tir)/|stdlib/trident/|(src|tools)/oracle/", r"^(programs\.tasm|trident\.|tir\.|oracle\.)"),
    (r"src/frontends/words/", r"^words\."),
    (r"src/frontends/(python|circuits)/|stdlib/kernels/|python/", r"^(kernels\.golden|circuits\.)"),
    (r"src/(verify|optimize)/", r"^(verify\.tables|optimize\.verify|judges\.)"),
    (r"src/store/", r"^store\."),
    (r"src/(profile|dispatch|engine|runtime|frazil)/|tools/worker/", r"^(engine\.|worker\.)"),
    (r"src/(aot|embed)/|cmake/|CMakeLists", r"^(embed\.|install\.)"),
    (r"tests/(\w+)/", r"^\1\."),
]
ALWAYS = r"^(infra\.|lit\.|docs\.)"


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def pace():
    """How many times as long as on the machine of the budgets compiling takes here and now; at least 1, at most 4."""
    stated = os.environ.get("FRAZIL_BUDGET_SCALE")
    if stated:
        return float(stated)
    begin = time.monotonic()
    command = ["clang++-22", "-std=c++23", "-O2", "-x", "c++", "-c", "-", "-o", os.devnull]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(2)]
    for one in both:
        one.stdin.write(PACE_SOURCE.encode())
        one.stdin.close()
    if any([one.wait() for one in both]):
        return 1.0
    return min(max((time.monotonic() - begin) / PACE_SECONDS, 1.0), 4.0)


def changed_files(base):
    """What differs from base: commits, edits and new files. Without a base: since the branch left its upstream, or,
    where nothing is ahead of it (a fresh clone), the last commit."""
    if not base:
        base = git("merge-base", "HEAD", "@{upstream}").strip()
        if not base or base == git("rev-parse", "HEAD").strip():
            base = "HEAD~1"
    files = git("diff", "--name-only", base).split("\n") + git("ls-files", "-o", "--exclude-standard").split("\n")
    return sorted({name for name in files if name})


def unit_test_of(path):
    """src/verify/tasm/x.cpp -> the names its unit test may have, the longest first."""
    parts = pathlib.PurePath(path).parts
    if parts[:1] != ("src",):
        return []
    folders = parts[1:-1]
    return ["unit." + "_".join(folders[:n]) for n in range(len(folders), 0, -1)]


class Tests:
    """What was run, and how it ended."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.rows = []
        self.start = time.monotonic()
        self.scale = self.pace = 1.0
        RESULTS.mkdir(parents=True, exist_ok=True)
        self.remembered = RESULTS / "passed.json"
        try:
            self.last_pass = json.loads(self.remembered.read_text())
        except (OSError, ValueError):
            self.last_pass = {}
        self.files = {}

    def digest(self, layer, ignored):
        """Of every file that the layer may read, as it is now, and of what decides how much is run."""
        if not self.files:
            names = git("ls-files", "-co", "--exclude-standard").split("\n")
            for name in filter(None, names):
                path = ROOT / name
                if path.is_file():
                    self.files[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        lines = [f"{name} {digest}" for name, digest in sorted(self.files.items()) if not name.startswith(ignored or ("\0",))]
        lines += [layer, os.environ.get("FRAZIL_TEST_SCALE", "")]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest() if self.files else ""

    def record(self, name, ran, bad, seconds, budget):
        budget = int(budget * self.scale * self.pace)
        note = ""
        if seconds > budget:
            note = "  over its budget: failed"
            self.failed += 1
        self.rows.append(f"{name:<24} {ran:>6} {bad:>7} {seconds:>6.0f} s {budget:>6} s{note}")
        return not note

    def build(self, preset, targets=()):
        """False if it cannot be built; one that took too long has failed and is tested all the same."""
        print(f"== {preset}: building", flush=True)
        if subprocess.run(["scripts/setup.sh"], cwd=ROOT).returncode:  # a bare machine has no compiler to measure yet
            self.failed += 1
            return False
        before = pace()
        begin = time.monotonic()
        bad = subprocess.run(["scripts/build.sh", preset, *targets], cwd=ROOT).returncode != 0
        seconds = time.monotonic() - begin
        self.pace = max(before, pace())
        print(f"test: this machine takes {self.pace:.2f} times as long as that of the budgets", flush=True)
        self.failed += bad
        self.record(preset + " build", 0, bad, seconds, BUILD_BUDGET[preset])
        return not bad

    def known(self, preset):
        """Name -> (labels, program) of the preset's tests."""
        out = subprocess.run(["ctest", "--test-dir", f"build/{preset}", "--show-only=json-v1"], cwd=ROOT, capture_output=True, text=True)
        tests = {}
        for test in json.loads(out.stdout)["tests"] if out.returncode == 0 else []:
            labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
            command = test.get("command") or [""]
            tests[test["name"]] = (set(sum(labels, [])), pathlib.PurePath(command[0]).name)
        return tests

    def run(self, preset, layer, names, budget, ignored=None):
        """Runs the named tests as one layer. `ignored`: what the layer does not read; None: it is always run."""
        if not names:
            return
        key = f"{preset} {layer}"
        digest = self.digest(key + " ".join(sorted(names)), ignored) if ignored is not None else ""
        if digest and self.last_pass.get(key) == digest:
            self.rows.append(f"{key:<24} {len(names):>6}       -      not run again: nothing that it reads has changed since it passed here")
            self.skipped += len(names)
            return
        report, cases = RESULTS / f"{preset}-{layer}.xml", RESULTS / "cases"
        for old in [report, *cases.glob("*.xml")]:
            old.unlink(missing_ok=True)
        print(f"\n== {preset}: {layer} (budget {budget * self.scale * self.pace:.0f} s)", flush=True)
        begin = time.monotonic()
        pattern = "^(" + "|".join(map(re.escape, sorted(names))) + ")$"
        code = subprocess.run(
            ["ctest", "--test-dir", f"build/{preset}", "--output-on-failure", "-j", JOBS, "--output-junit", str(report), "-R", pattern],
            cwd=ROOT, env={**os.environ, "GTEST_OUTPUT": f"xml:{cases}/", "GTEST_BRIEF": "1"}).returncode
        seconds = time.monotonic() - begin
        ran = bad = skip = 0
        if report.exists():
            suite = xml.parse(report).getroot()
            ran, bad, skip = (int(suite.get(name, 0)) for name in ("tests", "failures", "skipped"))
        if code != 0 and bad == 0:
            bad = 1
        inside = sum(int(xml.parse(file).getroot().get("tests", 0)) for file in cases.glob("*.xml"))
        if inside:
            print(f"   {inside} cases inside them")
        self.passed += ran - bad - skip
        self.failed += bad
        self.skipped += skip
        in_time = self.record(key, ran, bad, seconds, budget)
        if digest and not bad and not skip and in_time:
            self.last_pass[key] = digest
            self.remembered.write_text(json.dumps(self.last_pass, indent=1))

    def all_layers(self, preset, only=None, remember=True):
        """Every layer, or the tests of it that `only` takes. A test without a layer must not be lost."""
        tests = self.known(preset)
        named = {name for name in tests if not only or only(name)}
        for layer, (budget, ignored) in LAYERS.items():
            mine = {name for name in named if layer in tests[name][0]}
            named -= mine
            self.run(preset, layer, mine, budget, ignored if remember else None)
        self.run(preset, "other", {name for name in named if "nightly" not in tests[name][0]}, 60)

    def close(self):
        print(f"\n{'layer':<24} {'tests':>6} {'failed':>7} {'time':>8} {'budget':>8}")
        print("\n".join(self.rows))
        seconds = int(time.monotonic() - self.start)
        print(f"total time {seconds // 60} min {seconds % 60} s")
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""))
        return 0 if self.failed == 0 and self.passed + self.skipped > 0 else 1


def commits():
    return int(git("rev-list", "--count", "HEAD").strip() or 0)


def sanitized_share(tests, label, files):
    """A quarter of the tests with the label, another one with each turn, and those of changed folders, those with
    the most changed files first, up to as many again: what is left comes with the next commits and every night."""
    names = sorted(name for name, (labels, _) in tests.items() if label in labels)
    quarter = names[commits() // 2 % 4 :: 4]
    heat = {}
    for file in files:
        for name in unit_test_of(file):
            if name in names:
                heat[name] = heat.get(name, 0) + 1
                break
    hot = [name for name in sorted(heat, key=lambda name: -heat[name]) if name not in quarter]
    return set(quarter) | set(hot[: len(quarter)])


def sanitized(tests, preset, label, files):
    # The tests' names are known once the preset is configured; nothing is built for that.
    if subprocess.run(["scripts/build.sh", preset, "frazil_precompiled_plain"], cwd=ROOT, stdout=subprocess.DEVNULL).returncode:
        tests.failed += 1
        return
    known = tests.known(preset)
    share = sanitized_share(known, label, files)
    print(f"\n== {preset}: {len(share)} of {sum(label in labels for labels, _ in known.values())} {label} tests: the commit's quarter and changed folders")
    # CTest knows the program of a test once it is built, as it is in release by now.
    programs = {program for name, (_, program) in tests.known("release").items() if name in share}
    if tests.build(preset, sorted(programs)):
        tests.run(preset, label, share, SANITIZED_BUDGET)


def make_test(tests):
    if tests.build("release"):
        tests.all_layers("release")
    files = changed_files(os.environ.get("BASE"))
    # Either builds the libraries once more, which is most of its time.
    if commits() % 2 == 0:
        sanitized(tests, "dev", "unit", files)
    else:
        sanitized(tests, "tsan", "threads", files)


def make_check(tests):
    files = changed_files(os.environ.get("BASE"))
    patterns = [ALWAYS]
    units = set()
    for file in files:
        units.update(unit_test_of(file))
        for path, selected in AFFECTS:
            found = re.match(path, file)
            if found:
                patterns.append(found.expand(selected) if "\\1" in selected else selected)
    print(f"check: {len(files)} changed files")
    if tests.build("release"):
        tests.all_layers("release", lambda name: name in units or any(re.search(p, name) for p in set(patterns)))


def nightly_unit(preset, labels):
    def slice_of(tests):
        if tests.build(preset, ["unit_tests", "fuzzers", "threaded_tests"]):
            known = tests.known(preset)
            tests.run(preset, "all", {name for name, (has, _) in known.items() if has & labels}, 3600)
    return slice_of


def nightly_counts(tests):
    os.environ["FRAZIL_TEST_SCALE"] = os.environ.get("FRAZIL_TEST_SCALE", "10")
    tests.scale *= 10
    if tests.build("release"):
        tests.all_layers("release", remember=False)


def nightly_gcc(tests):
    if tests.build("gcc"):
        tests.all_layers("gcc", remember=False)


def nightly_remote(tests):
    if tests.build("release", ["bazel_remote_client"]):
        tests.run("release", "remote", {name for name, (labels, _) in tests.known("release").items() if "nightly" in labels}, 900)


def nightly_fuzz(tests):
    begin = time.monotonic()
    bad = subprocess.run(["scripts/fuzz.sh"], cwd=ROOT).returncode != 0
    tests.passed += not bad
    tests.failed += bad
    tests.record("fuzz", 1, bad, time.monotonic() - begin, 7200)


# What `make test` leaves out. Each slice stands alone, so that a night (or six machines) can be cut as one likes.
SLICES = {
    "dev": nightly_unit("dev", {"unit", "fuzz"}),
    "tsan": nightly_unit("tsan", {"unit", "threads"}),
    "gcc": nightly_gcc,
    "counts": nightly_counts,
    "remote": nightly_remote,
    "fuzz": nightly_fuzz,
}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true")
    options.add_argument("--nightly", metavar="SLICE", choices=[*SLICES, "all"])
    chosen = options.parse_args()
    seed = os.environ.setdefault("FRAZIL_TEST_SEED", str(int(git("rev-parse", "HEAD")[:6] or "0", 16)))
    print(f"test: random tests start at seed {seed} (FRAZIL_TEST_SEED)", flush=True)
    tests = Tests()
    if chosen.check:
        make_check(tests)
    elif chosen.nightly:
        tests.scale *= 4  # whole builds, where make test makes a share; and a night is long
        for name, run_slice in SLICES.items():
            if chosen.nightly in (name, "all"):
                run_slice(tests)
    else:
        make_test(tests)
    return tests.close()


if __name__ == "__main__":
    sys.exit(main())
