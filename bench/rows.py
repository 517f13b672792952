#!/usr/bin/env python3
"""The rows of docs/benchmarks.md: bench/recorded/results.json has them all, the document's tables are made from it.

    rows.py collect RUN       what a run left in the folder RUN (build/bench), stamped with commit, date and machine: RUN/results.json
    rows.py record RESULTS    puts those rows into bench/recorded/results.json, in place of older ones of the same area and figure;
                              --whole: of everything that a run measured before. Rows that sum figures up follow.
    rows.py render            writes the tables of docs/benchmarks.md
    rows.py check             the tables are what render would write, each row has its commit, date, machine and folders; prints
                              the rows whose folders changed since their commit (stale: to be measured again, no failure)

A row is {area, figure, ours, peer, ratio, goal, met, commit, date, machine, folders, table}. Rows of a run are numbers with a unit,
rows that people wrote down are texts; `met` is true, false, null (not judged; `reason` says why) or a text. `folders` may be left
to the area's (FOLDERS). A row that sums up what a run measures names those figures (`from`: "area: figure") and how they are
written together (`form`). Nothing can be left out: every recorded row is in a table, and a run's rows are all recorded.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEYS = ("area", "figure", "ours", "goal", "met", "commit", "date", "machine", "table")
# What a figure of an area measures: a change there makes it stale.
FOLDERS = {
    "accuracy": ["src/ir/prelude"],
    "base": ["src/base"],
    "calls": ["src/exec/plan", "src/optimize/calls", "src/verify/plans", "src/engine"],
    "checker": ["src/verify/tasm"],
    "circuits": ["src/frontends/circuits"],
    "cli": ["tools/frazil"],
    "cuda": ["src/targets/cuda", "src/targets/llvm"],
    "dispatch": ["src/dispatch"],
    "embed": ["src/embed", "src/aot"],
    "engine": ["src/engine", "src/dispatch", "src/profile"],
    "exec": ["src/exec"],
    "field": ["src/base", "src/targets/native", "src/targets/llvm"],
    "ir": ["src/ir"],
    "isa": ["src/targets/isa", "src/machines/simt"],
    "judge": ["src/verify", "src/targets/native", "src/targets/llvm", "src/exec"],
    "kernels": ["src/frontends/python", "python", "src/targets/isa", "src/targets/tiles"],
    "launch": ["src/embed"],
    "lowering": ["src/targets/tasm"],
    "native": ["src/targets/native", "src/targets/llvm"],
    "runtime": ["src/runtime", "src/embed", "src/dispatch", "src/base"],
    "same bits": ["src/targets", "src/ir/prelude"],
    "stdlib": ["stdlib/kernels", "src/runtime", "src/embed"],
    "store": ["src/store"],
    "tasm": ["src/machines/tasm"],
    "tile": ["src/targets/tiles"],
    "verify": ["src/verify"],
    "wasm": ["src/targets/wasm"],
    "words": ["src/frontends/words", "src/targets/wasm"],
    "worker": ["src/engine", "tools/worker", "src/targets/native", "src/targets/llvm"],
}
RUN_TABLE = "run"  # the rows of the last runs of `make bench`, one by one
JUDGE_TABLE = "judge"  # what an audit of the standard kernels found, a row each
MARKERS = re.compile(r"(<!-- table (\w+): [^\n]*-->\n).*?(<!-- end of table -->)", re.S)


def git(root, *arguments):
    return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)


def load(root):
    return json.loads((root / "bench/recorded/results.json").read_text())


def dump(data):
    """One row a line, so that differences can be read."""
    rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in data["rows"])
    return f'{{"machines": {json.dumps(data["machines"], ensure_ascii=False, indent=1)},\n"rows": [\n{rows}\n]}}\n'


# --- a run


def machine_name():
    cpu = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), "unknown CPU")
    return f"{cpu}, {os.cpu_count()} cores"


def corpus_rows(folder):
    """What bench/corpus left, as rows."""
    if (folder / "heights.json").exists():
        data = json.loads((folder / "heights.json").read_text())
        yield {"area": "lowering", "figure": f"unpadded maximum height of {len(data['rows'])} examples, geometric mean of the ratios",
               "ours": data["geomean"], "unit": "", "peer": "frozen template lowering", "ratio": data["geomean"],
               "goal": "<= 0.6, none padded higher", "met": data["geomean"] <= 0.6 and data["worse"] == 0}
    if (folder / "corpus.json").exists():
        data = json.loads((folder / "corpus.json").read_text())
        for key in ("words", "cycles"):
            ratio = data["total"][key] / data["total"]["hand_" + key]
            yield {"area": "lowering", "figure": f"{key} of {len(data['rows'])} functions that have a hand-written form",
                   "ours": data["total"][key], "unit": key, "peer": "hand-written", "ratio": ratio, "goal": "<= 1.0",
                   "met": ratio <= 1}


def judge_rows(folder):
    """What `frazil audit --json` said of the program that embeds every standard kernel: one row for each."""
    file = folder / "judge.json"
    kernels = {}
    for entry in json.loads(file.read_text())["entries"] if file.exists() else []:
        kernels.setdefault(entry["name"], []).append(entry)
    for name, forms in sorted(kernels.items()):
        sums = dict.fromkeys(("inputs", "run", "blocks", "turned", "loops"), 0)
        for form in forms:
            detail = form["found"]["code"]["detail"].replace(",", "")
            for pattern, keys in ((r"(\d+)(?: of \d+ ended)? inputs", ("inputs",)), (r"(\d+) of (\d+) blocks", ("run", "blocks")),
                                  (r"(\d+) of (\d+) loops", ("turned", "loops"))):
                if told := re.search(pattern, detail):
                    for key, count in zip(keys, told.groups()):
                        sums[key] += int(count)
        times = [form["judge_ms"] for form in forms]
        yield {"area": "judge", "figure": f"{name}, {len(forms)} forms", "table": JUDGE_TABLE,
               "ours": f"{sums['run']} of {sums['blocks']} blocks, {sums['turned']} of {sums['loops']} loops again, {sums['inputs']:,} inputs, "
                       f"{sum(times) / len(times):.0f} ms a form, the slowest {max(times):.0f}",
               "goal": "all agree", "met": all(form["finding"] == "agrees" for form in forms)}


def collect(folder, root=ROOT):
    file = folder / "results.json"
    rows = [row for row in json.loads(file.read_text()) if row["area"] not in ("lowering", "judge")] if file.exists() else []
    rows += corpus_rows(folder)
    rows += judge_rows(folder)
    told = git(root, "rev-parse", "--short", "HEAD")
    changed = git(root, "status", "--porcelain", "--untracked-files=no").stdout.strip()
    stamp = {"commit": told.stdout.strip() + ("+" if changed else "") if told.returncode == 0 else "",
             "date": datetime.date.today().isoformat(), "machine": machine_name(), "table": RUN_TABLE}
    unknown = sorted({row["area"] for row in rows} - FOLDERS.keys())
    if unknown:
        sys.exit(f"rows: no folders are known for {', '.join(unknown)} (FOLDERS in bench/rows.py)")
    file.write_text(json.dumps([{**stamp, **row} for row in rows], indent=2, ensure_ascii=False) + "\n")
    missed = [row for row in rows if row["met"] is False]
    print(f"{len(rows)} rows in {file}, {len(missed)} miss their goal" + "".join(f"\n  {row['area']}: {row['figure']}" for row in missed))


def name_of(row):
    """"area: figure", without what is measured: some figures tell of medians, bytes and places in their names."""
    return f"{row['area']}: " + re.sub(r"\d+\.\d+", "#", re.sub(r" \([^)]*\)", "", row["figure"]))


def sum_up(row, measured):
    """A row that sums up figures, by what was measured anew; as it was where one of them is missing."""
    parts = [measured.get(name) for name in row.get("from", [])]
    if not parts or None in parts:
        return row
    ratios = [f"{part['ratio']:.2f}" for part in parts if part.get("ratio") is not None]
    judged = [part["met"] for part in parts if part["met"] is not None]
    return {**row, "ours": row["form"].format(*(f"{part['ours']:.3g}" for part in parts)),
            "ratio": " / ".join(ratios) if row.get("ratio") else "", "met": all(judged) if judged else None,
            **{key: parts[0][key] for key in ("commit", "date", "machine")}}


def record(results, whole=False, root=ROOT):
    data = load(root)
    new = json.loads(results.read_text())
    if any(row["commit"].endswith("+") or not row["commit"] for row in new):
        print("rows: measured on a tree with changes that no commit has; commit first, so that the rows can name it")
        return 1
    # A machine that has a short name is called by it.
    names = {text: name for name, text in data["machines"].items()}
    for row in new:
        row["machine"] = names.get(row["machine"], row["machine"])
    measured = {name_of(row): row for row in new}
    judged = any(row["table"] == JUDGE_TABLE for row in new)
    kept = [sum_up(row, measured) for row in data["rows"]
            if not (row["table"] == RUN_TABLE and (whole or name_of(row) in measured) or row["table"] == JUDGE_TABLE and judged)]
    data["rows"] = kept + new
    for row in kept:
        lacking = [name for name in row.get("from", []) if name not in measured]
        if lacking and (whole or len(lacking) < len(row["from"])):
            print(f"not summed up, {row['area']}: {row['figure']}: the run has no {', '.join(lacking)}")
    for row in new:
        data["machines"].setdefault(row["machine"], row["machine"])
    (root / "bench/recorded/results.json").write_text(dump(data))
    print(f"{len(new)} rows recorded; `rows.py render` puts them into docs/benchmarks.md")
    return 0


# --- the document


def number(value, unit):
    if not isinstance(value, (int, float)):
        return "" if value is None else str(value)
    return f"{value:.3g}{' ' + unit if unit else ''}" if abs(value) < 1000 else f"{value:,.0f}{' ' + unit if unit else ''}"


def table(data, name):
    lines = ["| area | figure | ours | peer | ratio | goal | met | measured |", "|---|---|---|---|---|---|---|---|"]
    for row in data["rows"]:
        if row["table"] != name:
            continue
        met = {True: "yes", False: "no", None: row.get("reason", "")}.get(row["met"], row["met"])
        cells = [row["area"], row["figure"], number(row["ours"], row.get("unit", "")), row.get("peer") or "",
                 number(row.get("ratio"), ""), row["goal"], met, f"`{row['commit']}` {row['date']}, {row['machine']}"]
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(re.sub(r"  +", " ", line) for line in lines) + "\n"


def rendered(root):
    data = load(root)
    return MARKERS.sub(lambda match: match.group(1) + table(data, match.group(2)) + match.group(3),
                       (root / "docs/benchmarks.md").read_text())


def folders(row):
    return row.get("folders") or FOLDERS.get(row["area"], [])


def problems_of(root):
    data, text = load(root), (root / "docs/benchmarks.md").read_text()
    problems = []
    for row in data["rows"]:
        name = f"{row.get('area')}: {str(row.get('figure'))[:60]}"
        problems += [f"{name}: no {key}" for key in KEYS if key not in row or (row[key] in ("", None) and key not in ("met", "goal"))]
        if row.get("machine") and row["machine"] not in data["machines"]:
            problems.append(f"{name}: {row['machine']} is not among the machines")
        if row.get("commit") and not re.fullmatch(r"[0-9a-f]{7,40}", row["commit"]):
            problems.append(f"{name}: '{row['commit']}' is no commit")
        if not folders(row):
            problems.append(f"{name}: no folders")
        problems += [f"{name}: the folder {folder} does not exist" for folder in folders(row) if not (root / folder).exists()]
    tables = {match.group(2) for match in MARKERS.finditer(text)}
    problems += [f"docs/benchmarks.md has no table {name}" for name in sorted({row.get("table", "") for row in data["rows"]} - tables)]
    if not problems and rendered(root) != text:
        problems.append("docs/benchmarks.md is not what bench/recorded/results.json says: run bench/rows.py render")
    return problems


def areas_problems(root):
    """Every area that the benchmarks report has its folders."""
    named = re.compile(r'(?:Report\(\{\s*(?:\.area = )?|\bArea = )"([^"]+)"')
    areas = {(area, file.relative_to(root)) for file in sorted((root / "bench").rglob("*.cpp"))
             for area in named.findall(file.read_text())}
    return [f"{file}: the area {area} is not in FOLDERS of bench/rows.py" for area, file in sorted(areas) if area not in FOLDERS]


def stale(root):
    """Rows whose folders changed since their commit, and why some could not be asked."""
    rows, unknown, changed = [], set(), {}
    for row in load(root)["rows"]:
        commit = row["commit"]
        if commit not in changed:
            told = git(root, "diff", "--name-only", f"{commit}..HEAD")
            changed[commit] = told.stdout.splitlines() if told.returncode == 0 else None
        if changed[commit] is None:
            unknown.add(commit)
            continue
        hit = sorted({folder for folder in folders(row) for file in changed[commit] if file.startswith(folder + "/")})
        if hit:
            rows.append((row, hit))
    return rows, sorted(unknown)


def check(root=ROOT):
    problems = problems_of(root) + areas_problems(root)
    if problems:
        print("\n".join(problems))
        return 1
    rows, unknown = stale(root)
    if unknown:
        print(f"this clone does not have the commit {', '.join(unknown)} (shallow, or no git): whether its rows are stale is not known")
    for row, hit in rows:
        print(f"stale since {row['commit']}: {row['area']}: {row['figure'][:80]} ({', '.join(hit)})")
    print(f"{len(load(root)['rows'])} rows are as recorded, {len(rows)} of them stale")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["collect", "record", "render", "check"])
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    if options.what in ("collect", "record") and options.file is None:
        parser.error(f"{options.what} what?")
    if options.what == "collect":
        return collect(options.file)
    if options.what == "record":
        return record(options.file, options.whole)
    if options.what == "render":
        (ROOT / "docs/benchmarks.md").write_text(rendered(ROOT))
        return 0
    return check()


if __name__ == "__main__":
    sys.exit(main())
