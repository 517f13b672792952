#!/usr/bin/env python3
"""Our assembly against hand-written assembly of the same functions.

    compare.py --frazil BIN --corpus DIR [--json OUT]

DIR is a checkout of the Trident project: benches/**/*.baseline.tasm are its hand-written functions, the .tri files
beside them their sources. Nothing of it is part of this project. A function counts when it is there in both, is
legal assembly, and the two do the same: proved by `frazil verify`, or equal on random inputs of which some must end
well. Counted are words (code) and cycles (summed over the runs) of whole programs with one and the same driver, less
the hand-written function's call and return.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

P = 2**64 - 2**32 + 1
RUNS = 24
WIDTHS = {"Field": 1, "U32": 1, "Bool": 1, "XField": 3, "Digest": 5}


def frazil(binary, *arguments):
    done = subprocess.run([binary, "--json", *arguments], capture_output=True, text=True, timeout=120, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError:
        return done.returncode, {"error": {"message": (done.stderr or done.stdout)[-300:]}}


def split_types(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "[(<") - (c in "])>")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    if text[start:].strip():
        parts.append(text[start:])
    return [p.strip() for p in parts]


def leaves(kind):
    """The scalar types of a type, or None where it is not one of the plain kinds."""
    kind = kind.strip()
    if kind in WIDTHS:
        return [kind]
    array = re.fullmatch(r"\[(.+);\s*(\d+)\]", kind)
    if array:
        inner = leaves(array.group(1))
        return None if inner is None else inner * int(array.group(2))
    if kind.startswith("(") and kind.endswith(")"):
        out = []
        for part in split_types(kind[1:-1]):
            inner = leaves(part)
            if inner is None:
                return None
            out += inner
        return out
    return None


def signatures(tri):
    """name -> (leaf types of parameters, of the result)"""
    found = {}
    for match in re.finditer(r"\bfn\s+(\w+)\s*\(([^)]*(?:\([^)]*\)[^)]*)*)\)\s*(?:->\s*([^{\n]+))?", tri):
        name, params, result = match.groups()
        types = []
        for param in split_types(params):
            types.append(leaves(param.split(":", 1)[1]) if ":" in param else None)
        back = leaves(result) if result else []
        if None in types or back is None:
            continue
        found[name] = ([t for group in types for t in group], back)
    return found


def hand_functions(text):
    """label -> lines; comments dropped"""
    functions, current = {}, None
    for line in text.splitlines():
        line = line.split("//")[0].strip()
        if not line:
            continue
        if line.endswith(":"):
            current = line[:-1]
            functions[current] = []
        elif current is not None:
            functions[current].append(line)
    return functions


def closure(functions, label):
    """The function with everything it calls, or None if something is missing."""
    order, todo = [], [label]
    while todo:
        name = todo.pop()
        if name in order:
            continue
        if name not in functions:
            return None
        order.append(name)
        for line in functions[name]:
            words = line.split()
            todo += [words[i + 1] for i, w in enumerate(words) if w == "call"]
    return order


def grouped(instruction, count):
    lines = []
    while count > 0:
        lines.append(f"{instruction} {min(count, 5)}")
        count -= 5
    return lines


def words_of(leaf_types):
    return sum(WIDTHS[t] for t in leaf_types)


def hand_program(functions, label, params, results):
    order = closure(functions, label)
    if order is None:
        return None
    lines = grouped("read_io", words_of(params)) + [f"call {label}"] + grouped("write_io", words_of(results)) + ["halt"]
    for name in order:
        lines += [f"{name}:"] + functions[name]
    return "\n".join(lines) + "\n"


def in_order(values, leaf_types, reverse):
    """Words of wide values turned round: who is deepest in a digest is a matter of taste."""
    out, at = [], 0
    for leaf in leaf_types:
        width = WIDTHS[leaf]
        piece = values[at:at + width]
        out += piece[::-1] if reverse else piece
        at += width
    return out


def draw(leaf, rng):
    if leaf == "Bool":
        return [rng.randrange(2)]
    if leaf == "U32":
        return [rng.choice([0, 1, 2, 7, 31, 255, 2**16, 2**32 - 1, rng.randrange(2**32), rng.randrange(1000)])]
    return [rng.choice([0, 1, 2, 5, rng.randrange(100), rng.randrange(2**32), rng.randrange(P)]) for _ in range(WIDTHS[leaf])]


def run(binary, file, given, secret):
    code, answer = frazil(binary, "tri", "run", str(file), "--cycles", "2000000", "--input", ",".join(map(str, given)) or " ",
                          "--secret", ",".join(map(str, secret)))
    if "output" not in answer:
        return None
    return answer["output"], answer["cycles"], "crash" in answer, code


def same(binary, ours, hand):
    """The checker's word on whole programs: it covers all inputs, but a digest's words must lie the same way round."""
    return frazil(binary, "verify", str(hand), str(ours), "--verify-ms", "3000")[1].get("verdict", "unknown")


def judge(binary, ours, hand, params, results, rng):
    """(cycles of ours, of the hand-written, successes) or a reason."""
    # What gives nothing back is judged by the checker alone: runs of it would agree by doing nothing.
    if not results and same(binary, ours, hand) not in ("proved", "algebraic"):
        return "no results, and not proved equal"
    for reverse in (False, True):
        mine, theirs, good, bad = 0, 0, 0, False
        for _ in range(RUNS):
            values = [v for leaf in params for v in draw(leaf, rng)]
            extra = [rng.randrange(50) for _ in range(40)]
            secret = [rng.randrange(1, 40) for _ in range(200)]
            a = run(binary, ours, values + extra, secret)
            b = run(binary, hand, in_order(values, params, reverse) + extra, secret)
            if a is None or b is None:
                return "not runnable"
            # The hand-written one leaves its results on the stack and the driver writes the top first.
            expected = in_order(a[0], results, not reverse)[::-1] if not a[2] else None
            if a[2] != b[2]:
                bad = True
                break
            if a[2]:
                continue
            if sorted(b[0]) != sorted(expected) or b[0] != expected:
                bad = True
                break
            good += 1
            mine += a[1]
            theirs += b[1] - 2
        if not bad and (good >= 4 or not results):
            return mine, theirs, good
    return "different or never successful"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frazil", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--json")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    root = pathlib.Path(options.corpus)
    rng = random.Random(20261115)
    rows, skipped = [], []
    with tempfile.TemporaryDirectory() as scratch:
        ours, hand = pathlib.Path(scratch, "ours.tasm"), pathlib.Path(scratch, "hand.tasm")
        for baseline in sorted(root.glob("benches/**/*.baseline.tasm")):
            source = root / str(baseline.relative_to(root / "benches")).replace(".baseline.tasm", ".tri")
            if not source.exists() or options.only not in str(source):
                continue
            functions = hand_functions(baseline.read_text())
            for name, (params, results) in signatures(source.read_text()).items():
                label = next((l for l in (f"__{name}", name) if l in functions), None)
                if label is None:
                    continue
                where = f"{source.relative_to(root)}:{name}"
                text = hand_program(functions, label, params, results)
                if text is None:
                    skipped.append((where, "calls what is not there"))
                    continue
                hand.write_text(text)
                code, built = frazil(options.frazil, "tri", "build", str(source), "--path", str(root), "--fn", name, "-o", str(ours), "--no-verify")
                if "words" not in built:
                    skipped.append((where, "ours: " + built.get("error", {}).get("message", str(code))))
                    continue
                code, theirs = frazil(options.frazil, "tri", "build", str(hand), "--no-verify")
                if "words" not in theirs:
                    skipped.append((where, "not legal assembly"))
                    continue
                verdict = judge(options.frazil, ours, hand, params, results, rng)
                if isinstance(verdict, str):
                    skipped.append((where, verdict))
                    continue
                rows.append({"function": where, "words": built["words"], "hand_words": theirs["words"] - 3,
                             "cycles": verdict[0], "hand_cycles": verdict[1], "runs": verdict[2]})
                print(f"{where:60} words {built['words']:5} / {theirs['words'] - 3:5}   cycles {verdict[0]:8} / {verdict[1]:8}")
    for where, why in skipped:
        print(f"{where:60} not counted: {why}")
    total = {key: sum(row[key] for row in rows) for key in ("words", "hand_words", "cycles", "hand_cycles")}
    if rows:
        print(f"{len(rows)} functions: words {total['words']} / {total['hand_words']} = {total['words'] / total['hand_words']:.3f}, "
              f"cycles {total['cycles']} / {total['hand_cycles']} = {total['cycles'] / total['hand_cycles']:.3f}; {len(skipped)} not counted")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"rows": rows, "skipped": skipped, "total": total}, indent=1))
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
