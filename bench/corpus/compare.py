#!/usr/bin/env python3
"""Our assembly against hand-written assembly of the same functions.

    compare.py --frazil BIN --corpus DIR [--json OUT] [--only PART] [--verbose]

DIR is a checkout of the Trident project: benches/**/*.baseline.tasm are its hand-written functions, the .tri files
of the same names their sources. Nothing of it is part of this project. Ours is what `frazil tri build --callable` gives, so
that both are functions with arguments and results on the stack; the hand-written one may keep wide values the other way
round, and its first argument on top. A function counts when the two do the same: proved by `frazil verify --fragments`
for all inputs in the types' ranges, the whole state compared, or else equal in state on random runs of which some end well.
Counted are the words of the function with all it calls, and the cycles of runs that end well, from call to return.
"""
import argparse
import json
import pathlib
import random
import sys
import tempfile

from corpus import closure, declarations, frazil, hand_functions, harness, layouts, wrapper
from inputs import Inputs, satisfy

RUNS = 12
MOST_DRAWS = 60
OWN_RAM = 2**40  # from here on the compiler's


class Function:
    def __init__(self, options, scratch, name, label):
        self.options, self.scratch, self.name, self.label = options, pathlib.Path(scratch), name, label
        self.ours, self.hand = self.scratch / "ours.tasm", self.scratch / "hand.tasm"

    def frazil(self, *arguments):
        return frazil(self.options.frazil, *[str(a) for a in arguments])

    def build(self, source, root, declaration, intrinsic, turned=False):
        """A reason why there is nothing to compare, or None. `turned`: with the first argument on top."""
        name = self.name
        if intrinsic or turned:
            text = wrapper(source.read_text(), name, declaration, turned)
            if text is None:
                return "more than one word: in a parameter"
            source, name = self.scratch / source.name, f"{name}_called"
            source.write_text(text)
        built = self.frazil("tri", "build", source, "--path", root, "--fn", name, "--callable", "--no-verify", "-o", self.ours)[1]
        if "words" not in built:
            return "the source is refused: " + built.get("error", {}).get("message", "?")
        self.params, self.results = built["parameters"], built["results"]
        self.words, self.text = built["words"], built["assembly"]
        self.code = [line.strip() for line in self.text.splitlines() if line.strip() and not line.strip().endswith(":")]
        self.entry = self.text.split(":")[0]
        return None

    def hand_is(self, text):
        self.hand.write_text(text)
        self.hand_text = text
        answer = self.frazil("tri", "build", self.hand, "--no-verify", "--cycles", 1)[1]
        if "words" not in answer:
            return "not legal assembly: " + answer.get("error", {}).get("message", "?").split(": ")[-1]
        self.hand_words = answer["words"]
        return None

    def prove(self, take, give):
        """The checker's verdict, and its counterexample."""
        natural = [layouts(self.params)[0], layouts(self.results)[0]]
        one, other = self.scratch / "h.tasm", self.scratch / "o.tasm"
        texts = [harness(self.label, self.hand_text, self.params, self.results, take, give, True),
                 harness(self.entry, self.text, self.params, self.results, *natural, True)]
        if None in texts:
            return "unknown", "more words than can be turned round"
        one.write_text(texts[1])
        other.write_text(texts[0])
        answer = self.frazil("verify", one, other, "--fragments", "--verify-ms", 3000)[1]
        note = answer.get("difference") or answer.get("reason", "")
        if answer.get("verdict") == "refuted":
            note += " (" + answer["run"][0].split(" ", 4)[-1] + ")"
        return answer.get("verdict", "unknown"), note

    def call(self, file, label, inputs, order, cycles):
        answer = self.frazil("tri", "run", file, "--call", label, "--cycles", cycles, "--sponge", *inputs.arguments(order))[1]
        return answer if "stack" in answer else None

    def draw(self, rng):
        """Inputs on which ours ends well, with its answers."""
        drawn, natural = [], layouts(self.params)[0]
        for _ in range(MOST_DRAWS):
            inputs = Inputs(self.params, rng)

            def run(cycles, inputs=inputs):
                return self.call(self.ours, self.entry, inputs, natural, 60_000 if cycles is None else cycles)

            answer = satisfy(inputs, run, self.code)
            if answer:
                drawn.append((inputs, answer))
            if len(drawn) == RUNS:
                break
        return drawn

    def agrees(self, drawn, take, give):
        """(cycles of the hand-written one, None) or (0, what differs)."""
        cycles = 0
        for inputs, ours in drawn:
            hand = self.call(self.hand, self.label, inputs, take, 200_000)
            seen = " ".join(inputs.arguments(take)[:2])
            if hand is None or "crash" in hand:
                return 0, f"the hand-written one crashes ({hand and hand['crash']['kind']}) on {seen}"
            expected = [ours["stack"][i] for i in give] if len(ours["stack"]) == len(give) else None
            if hand["stack"] != expected or not hand["below_kept"]:
                return 0, f"it leaves {hand['stack'][-8:]}, not {expected and expected[-8:]}, on {seen}"
            for what in ("output", "read"):
                if hand[what] != ours[what]:
                    return 0, f"{what}: {hand[what][:8]}, not {ours[what][:8]}, on {seen}"
            ram = [{a: v for a, v in side["ram"].items() if int(a) < OWN_RAM and v != inputs.ram.get(int(a), 0)} for side in (hand, ours)]
            if ram[0] != ram[1]:
                return 0, f"RAM afterwards differs, on {seen}"
            if hand.get("sponge") != ours.get("sponge"):
                return 0, f"the sponge differs, on {seen}"
            cycles += hand["cycles"]
        return cycles, None

    def judge(self, rng, last_first=False):
        """(category, note) of one that does not count, or a row."""
        drawn = self.draw(rng)
        combinations = [(t, g) for t in layouts(self.params, last_first) for g in layouts(self.results)]
        proofs, best = [], None
        for take, give in combinations:
            verdict, note = self.prove(take, give)
            proofs.append((verdict, note))
            if verdict not in ("proved", "algebraic"):
                continue
            if not drawn:
                return "equal, but no input was found that it accepts", ""
            cycles, differs = self.agrees(drawn, take, give)
            if differs:
                return "proved and yet different", differs
            best = (verdict, cycles)
            break
        if best is None and drawn:
            for (take, give), (verdict, note) in zip(combinations, proofs):
                if verdict == "refuted":
                    continue
                cycles, differs = self.agrees(drawn, take, give)
                if not differs:
                    best = ("equal on runs", cycles)
                    break
        if best is None:
            return self.why_not(drawn, combinations, proofs)
        return {"words": self.words, "hand_words": self.hand_words, "cycles": sum(answer["cycles"] for _, answer in drawn),
                "hand_cycles": best[1], "runs": len(drawn), "judge": best[0]}

    def why_not(self, drawn, combinations, proofs):
        if not drawn and any(verdict == "unknown" for verdict, _ in proofs):
            return "not decided: no input found that ours accepts", proofs[0][1]
        if not drawn:
            return "the hand-written one is different (refuted)", proofs[0][1]
        wrong = [self.agrees(drawn, take, give)[1] for take, give in combinations]
        if any(differs is None for differs in wrong):
            return "the hand-written one is different (refuted; runs that end well agree)", proofs[wrong.index(None)][1]
        return "the hand-written one is different", wrong[0]


def functions_of(options, root):
    baselines = sorted(root.glob("benches/**/*.baseline.tasm"))
    for baseline in baselines:
        source = root / str(baseline.relative_to(root / "benches")).replace(".baseline.tasm", ".tri")
        if not source.exists() or options.only not in str(source):
            continue
        functions = hand_functions(baseline.read_text())
        module = str(source.relative_to(root)).removesuffix(".tri").replace("/", "_")
        for name, declared in declarations(source.read_text()).items():
            label = next((l for l in (f"__{name}", name, f"{module}__{name}") if l in functions), None)
            if label:
                yield source, name, label, functions, declared


def one(options, root, scratch, item, rng):
    source, name, label, functions, (declaration, intrinsic, sized) = item
    function = Function(options, scratch, name, label)
    if sized:
        return "the source has size parameters, the hand-written one has not", ""
    order, missing = closure(functions, label)
    if missing:
        return "calls what is not there", ", ".join(missing)
    why = function.build(source, root, declaration, intrinsic)
    why = why or function.hand_is("".join(f"{l}:\n" + "".join(f"  {line}\n" for line in functions[l]) for l in order))
    if why:
        return why.split(": ", 1)[0], why.split(": ", 1)[1]
    result = function.judge(rng)
    if isinstance(result, dict) or len(function.params) < 2:
        return result
    # The first argument on top: then so it is in ours, where it can be said.
    turned = function.judge(rng, True) if function.build(source, root, declaration, intrinsic, True) else function.judge(rng)
    return turned if isinstance(turned, dict) else result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frazil", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--json")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    root = pathlib.Path(options.corpus)
    rows, skipped = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for item in functions_of(options, root):
            where = f"{item[0].relative_to(root)}:{item[1]}"
            result = one(options, root, scratch, item, random.Random(where))
            if isinstance(result, tuple):
                skipped.append((where, *result))
                continue
            rows.append({"function": where, **result})
            print(f"{where:58} words {result['words']:5} / {result['hand_words']:5}   cycles {result['cycles']:7} / "
                  f"{result['hand_cycles']:7}   {result['judge']}", flush=True)
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
