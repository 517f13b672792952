"""Every Trident example as a whole: the run line's output on every target, the judge's word on the lowering, and
output and all nine heights as the published machine has them.

    examples.py --frazil BIN --examples DIR [--oracle BIN [--prove MAX_HEIGHT]] [--targets a,b]
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

TABLES = ["program", "processor", "op stack", "ram", "jump stack", "hash", "cascade", "lookup", "u32"]


def run_line(text):
    """(input, secret tokens, digests, ram, expected output) of a file's run line."""
    match = re.search(r"^// run:(.*)$", text, re.MULTILINE)
    if not match:
        return None
    left, _, right = match.group(1).partition("->")
    given = {"--input": [], "--secret": [], "--ram": []}
    flag = None
    for word in left.split():
        if word.startswith("--"):
            flag = word
        else:
            given[flag] += word.split(",")
    return {"input": given["--input"], "secret": [w for w in given["--secret"] if ":" not in w],
            "digests": [w.split(":") for w in given["--secret"] if ":" in w],
            "ram": [w.split("=") for w in given["--ram"]], "expected": right.replace(" ", "").split(",") if right.strip() else []}


def frazil(binary, *arguments):
    done = subprocess.run([binary, "--json", *arguments], capture_output=True, text=True, timeout=300, check=False)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"error": (done.stderr or done.stdout)[-400:]}


def ask(oracle, requests):
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([oracle], input=lines, capture_output=True, text=True, timeout=1200, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frazil", required=True)
    parser.add_argument("--examples", required=True)
    parser.add_argument("--oracle")
    parser.add_argument("--prove", type=int, default=0)
    parser.add_argument("--targets", default="interp,native,wasm,c")
    options = parser.parse_args()
    wrong, items, builds = [], [], {}
    files = sorted(pathlib.Path(options.examples).glob("*.tri"))
    verdicts = {}
    for file in files:
        line = run_line(file.read_text())
        if line is None:
            wrong.append(f"{file.name}: no run line")
            continue
        built = frazil(options.frazil, "tri", "build", str(file))
        if [str(word) for word in built.get("output", [])] != line["expected"]:
            wrong.append(f"{file.name}: expected {line['expected']}, got {built.get('output', built)}")
            continue
        builds[file.name] = (line, built)
        verdict = built["lowering"]["verdict"]
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
        for target in filter(None, options.targets.split(",")):
            there = frazil(options.frazil, "tri", "run", str(file), "--target", target)
            if there.get("output") != line["expected"]:
                wrong.append(f"{file.name} on {target}: expected {line['expected']}, got {there.get('output', there)}")
        items.append({"code": built["assembly"], "input": [str(int(w) % (2**64 - 2**32 + 1)) for w in line["input"]],
                      "secret": [str(int(w) % (2**64 - 2**32 + 1)) for w in line["secret"]], "digests": line["digests"], "ram": line["ram"],
                      "cycles": 1 << 24})
    if options.oracle:
        results = ask(options.oracle, [{"do": "trace", "items": items}])[0]["results"]
        for (name, (line, built)), answer in zip(builds.items(), results):
            if answer.get("output") != line["expected"]:
                wrong.append(f"{name}: the published machine gives {answer.get('output', answer)}, not {line['expected']}")
            ours = [built["heights"][table] for table in TABLES]
            theirs = [int(height) for height in answer.get("heights", [])]
            if ours != theirs:
                wrong.append(f"{name}: heights {ours}, the published machine's {theirs}")
        proved = 0
        with tempfile.TemporaryDirectory() as scratch:
            for (name, (_, built)), item in zip(builds.items(), items):
                if built["padded"] > options.prove:
                    continue
                proof = str(pathlib.Path(scratch, "p"))
                made, checked = ask(options.oracle, [{"do": "prove", **item, "file": proof},
                                                     {"do": "verify", "file": proof, "code": item["code"]}])
                if not checked.get("holds"):
                    wrong.append(f"{name}: no proof: {made.get('error', made.get('crash'))} {checked}")
                proved += 1
        print(f"{len(items)} programs on the published machine, {proved} proved and verified")
    print(f"{len(files)} examples, lowering: {verdicts}")
    for line in wrong:
        print(line)
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
