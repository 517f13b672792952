#!/usr/bin/env python3
"""Our assembly against hand-written assembly of the same functions.

    compare.py --frazil BIN --corpus DIR [--json OUT] [--only PART] [--verbose]

DIR is a checkout of the Trident project: benches/**/*.baseline.tasm are its hand-written functions, the .tri files
of the same names their sources. Nothing of it is part of this project. Ours is what `frazil tri build --callable` gives, so
that both are functions with arguments and results on the stack; where the hand-written one has the first of them on top,
so has ours, and it may keep wide values the other way round. A function counts when the two do the same: all of the
state is the same after runs that end well, and the checker (`frazil verify`) proves that it always is, for arguments in their
types' ranges, or at least cannot refute it. RAM is part of the state where the source uses it; else it is the function's own.
Counted are the words of the function with all it calls, and the cycles of those runs, from call to return.
"""
import argparse
import json
import pathlib
import random
import sys
import tempfile

from corpus import closure, declarations, frazil, hand_functions, harness, layouts, linked, wrapper
from inputs import Inputs, satisfy

RUNS = 8
MOST_DRAWS = 20
MOST_CYCLES = 2000  # of a run that counts
OWN_RAM = 2**40  # from here on the compiler's


class Function:
    def __init__(self, options, scratch, name, label):
        self.options, self.scratch, self.name, self.label = options, pathlib.Path(scratch), name, label
        self.ours, self.hand = self.scratch / "ours.tasm", self.scratch / "hand.tasm"

    def frazil(self, *arguments):
        return frazil(self.options.frazil, *[str(a) for a in arguments])

    def build(self, source, root, first_on_top):
        """A reason why there is nothing to compare, or None."""
        order = ["--first-on-top"] if first_on_top else []
        built = self.frazil("tri", "build", source, "--path", root, "--fn", self.name, "--callable", *order, "--no-verify", "-o", self.ours)[1]
        if "words" not in built:
            return "the source is refused", built.get("error", {}).get("message", "?")
        # As they lie on the stack, the deepest first.
        turn = -1 if first_on_top else 1
        self.params, self.results = built["parameters"][::turn], built["results"][::turn]
        self.words, self.text, self.memory = built["words"], built["assembly"], built["ram"]
        self.code = instructions(self.text)
        self.entry = self.text.split(":")[0]
        return None

    def hand_is(self, text):
        self.hand.write_text(text)
        self.hand_text, self.hand_code = text, instructions(text)
        answer = self.frazil("tri", "build", self.hand, "--no-verify", "--cycles", 1)[1]
        if "words" not in answer:
            return "not legal assembly", answer.get("error", {}).get("message", "?").split(": ")[-1]
        self.hand_words = answer["words"]
        return None

    def prove(self, take, give, whole):
        """The checker's verdict, and what it says."""
        natural = layouts(self.params)[0], layouts(self.results)[0]
        one, other = self.scratch / "h.tasm", self.scratch / "o.tasm"
        texts = [harness(self.entry, self.text, self.params, self.results, *natural, whole),
                 harness(self.label, self.hand_text, self.params, self.results, take, give, whole)]
        if None in texts:
            return "unknown", "more words than can be turned round"
        one.write_text(texts[0])
        other.write_text(texts[1])
        flags = [] if whole else ["--fragments"]
        answer = self.frazil("verify", one, other, *flags, "--verify-ms", 2000)[1]
        note = answer.get("difference") or answer.get("reason", "")
        if answer.get("verdict") == "refuted":
            note += " (" + answer["run"][0].split(" ", 4)[-1] + ")"
        return answer.get("verdict", "unknown"), note

    def call(self, file, label, inputs, order, cycles):
        answer = self.frazil("tri", "run", file, "--call", label, "--cycles", cycles, "--sponge", *inputs.arguments(order))[1]
        return answer if "stack" in answer else None

    def draw(self, rng, file, label, code, order):
        """Inputs on which the function ends well, with its answers; long runs only where there are no others."""
        return (self.draw_some(rng, file, label, code, order, MOST_CYCLES) or
                self.draw_some(rng, file, label, code, order, 100 * MOST_CYCLES))

    def draw_some(self, rng, file, label, code, order, most):
        drawn = []
        for _ in range(MOST_DRAWS):
            inputs = Inputs(self.params, rng, self.memory)

            def run(cycles, inputs=inputs):
                return self.call(file, label, inputs, order, most if cycles is None else cycles)

            answer = satisfy(inputs, run, code)
            if answer:
                drawn.append((inputs, answer))
            if len(drawn) == RUNS:
                break
        return drawn

    def agrees(self, drawn, take, give):
        """(cycles of the hand-written one, None) or (0, what differs)."""
        cycles = 0
        for inputs, ours in drawn:
            hand = self.call(self.hand, self.label, inputs, take, 100 * MOST_CYCLES)
            seen = " ".join(inputs.arguments(take)[:2])
            if hand is None or "crash" in hand:
                return 0, f"it crashes ({hand and hand['crash']['kind']}) on {seen}"
            expected = [ours["stack"][i] for i in give] if len(ours["stack"]) == len(give) else None
            if len(hand["stack"]) > len(give):
                return 0, f"it leaves {len(hand['stack']) - len(give)} words too many on {seen}"
            if hand["stack"] != expected or not hand["below_kept"]:
                return 0, f"it gives {hand['stack'][-8:]}, not {expected and expected[-8:]}, on {seen}"
            for what in ("output", "read"):
                if hand[what] != ours[what]:
                    return 0, f"{what}: {hand[what][:8]}, not {ours[what][:8]}, on {seen}"
            ram = [{a: v for a, v in side["ram"].items() if int(a) < OWN_RAM and v != inputs.ram.get(int(a), 0)} for side in (hand, ours)]
            if self.memory and ram[0] != ram[1]:
                return 0, f"RAM afterwards differs on {seen}"
            if hand.get("sponge") != ours.get("sponge"):
                return 0, f"the sponge differs on {seen}"
            cycles += hand["cycles"]
        return cycles, None

    def judge(self, rng):
        """A row, or (category, note) of one that does not count."""
        drawn = self.draw(rng, self.ours, self.entry, self.code, layouts(self.params)[0])
        gives = layouts(self.results)
        gives += [give for give in layouts(self.results, True) if give not in gives]
        combinations = [(take, give) for take in layouts(self.params) for give in gives]
        notes = []
        for take, give in combinations:
            cycles, differs = self.agrees(drawn, take, give)
            if differs:
                notes.append(("the hand-written one is wrong", differs))
                continue
            verdict, note = self.prove(take, give, False)
            # What the source does not keep in memory is the function's own there; runs have shown what else is left.
            if not self.memory and (verdict == "unknown" or "RAM" in note):
                verdict, note = self.prove(take, give, True)
            if verdict == "refuted":
                notes.append(("the hand-written one is wrong on some inputs", note))
            elif not drawn:
                notes.append(("equal, but no input was found that it accepts" if verdict != "unknown" else "not decided", note))
            else:
                return {"words": self.words, "hand_words": self.hand_words, "cycles": sum(answer["cycles"] for _, answer in drawn),
                        "hand_cycles": cycles, "runs": len(drawn), "judge": verdict if verdict != "unknown" else "runs"}
        undecided = [n for n in notes if n[0] == "not decided"]
        if undecided and not drawn:
            return self.accepts(rng, combinations) or undecided[0]
        rank = ["equal, but", "the hand-written one is wrong on", "the hand"]
        return min(notes, key=lambda n: next((i for i, r in enumerate(rank) if n[0].startswith(r)), 9))

    def accepts(self, rng, combinations):
        """Where no input is known that ours accepts: one that the hand-written one accepts says that they differ."""
        for take, _ in combinations:
            for inputs, _ in self.draw(rng, self.hand, self.label, self.hand_code, take)[:4]:
                ours = self.call(self.ours, self.entry, inputs, layouts(self.params)[0], 100 * MOST_CYCLES)
                if ours and "crash" in ours and ours["crash"]["kind"] == "assertion failed":
                    return "the hand-written one is wrong", "it accepts what the source does not: " + " ".join(inputs.arguments(take)[:2])
        return None


def instructions(text):
    return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().endswith(":")]


def functions_of(options, root):
    baselines = {file: hand_functions(file.read_text()) for file in sorted(root.glob("benches/**/*.baseline.tasm"))}
    for baseline, own in baselines.items():
        source = root / str(baseline.relative_to(root / "benches")).replace(".baseline.tasm", ".tri")
        if not source.exists() or options.only not in str(source):
            continue
        functions = linked(own, [(file.name.split(".")[0], more) for file, more in baselines.items() if file != baseline])
        module = str(source.relative_to(root)).removesuffix(".tri").replace("/", "_")
        for name, declared in declarations(source.read_text()).items():
            label = next((l for l in (f"__{name}", name, f"{module}__{name}") if l in own), None)
            if label:
                yield source, name, label, functions, declared


def one(options, root, scratch, item, rng):
    source, name, label, functions, (declaration, intrinsic, sized) = item
    if sized:
        return "the source has size parameters, the hand-written one has not", ""
    order, missing = closure(functions, label)
    if missing:
        return "calls what is not there", ", ".join(missing)
    if name == "main":  # a program there, a function here
        functions = {**functions, label: [line.replace("halt", "return") for line in functions[label]]}
    function = Function(options, scratch, name, label)
    if intrinsic:
        text = wrapper(source.read_text(), name, declaration)
        source, function.name = function.scratch / source.name, f"{name}_called"
        source.write_text(text)
    why = function.hand_is("".join(f"{l}:\n" + "".join(f"  {line}\n" for line in functions[l]) for l in order))
    if why:
        return why
    best, first = None, None
    for first_on_top in (False, True):
        refused = function.build(source, root, first_on_top)
        if refused:
            return refused
        result = function.judge(rng)
        first = first or result
        if isinstance(result, dict) and (best is None or (result["words"], result["cycles"]) < (best["words"], best["cycles"])):
            best = result
        # The other order is tried where it may say more.
        if len(function.params) < 2 and len(function.results) < 2 or best and best["words"] <= best["hand_words"]:
            break
    return best or first


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frazil", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--json")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    root, options.frazil = pathlib.Path(options.corpus), str(pathlib.Path(options.frazil).resolve())
    rows, skipped, wrong = [], [], set()
    with tempfile.TemporaryDirectory() as scratch:
        for item in functions_of(options, root):
            where = f"{item[0].relative_to(root)}:{item[1]}"
            result = one(options, root, scratch, item, random.Random(where))
            if isinstance(result, tuple):
                skipped.append((where, *result))
                wrong.add((item[0], item[2]))
                continue
            calls = closure(item[3], item[2])[0][1:]
            rows.append({"function": where, **result, "calls": calls})
            print(f"{where:58} words {result['words']:5} / {result['hand_words']:5}   cycles {result['cycles']:7} / "
                  f"{result['hand_cycles']:7}   {result['judge']}", flush=True)
    # Runs say little about parts that they do not reach.
    for row in [r for r in rows if r["judge"] == "runs"]:
        bad = [label for file, label in wrong if str(file.relative_to(root)) == row["function"].split(":")[0] and label in row["calls"]]
        if bad:
            rows.remove(row)
            skipped.append((row["function"], "equal on runs, but it calls what is not equal", ", ".join(sorted(bad))))
    for category in sorted({c for _, c, _ in skipped}):
        which = [(where, note) for where, c, note in skipped if c == category]
        print(f"not counted, {len(which)}: {category}")
        for where, note in which:
            print(f"    {where:56} {note}")
    total = {key: sum(row[key] for row in rows) for key in ("words", "hand_words", "cycles", "hand_cycles")}
    if rows:
        print(f"{len(rows)} functions: words {total['words']} / {total['hand_words']} = {total['words'] / total['hand_words']:.3f}, "
              f"cycles {total['cycles']} / {total['hand_cycles']} = {total['cycles'] / total['hand_cycles']:.3f}; {len(skipped)} not counted")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"rows": rows, "skipped": skipped, "total": total}, indent=1))
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
