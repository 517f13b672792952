#!/usr/bin/env python3
"""Heights of our lowering against the frozen template lowering of the same programs.

    heights.py --frazil BIN [--json OUT]

The templates' assembly lies in frozen/, one file for each example, with the example's run line on top. A compiler of one
template per op made it, once; it is gone, and its assembly is the yardstick. An example that came later has none.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples" / "trident"
FROZEN = HERE / "frozen"


def build(binary, file, *flags):
    done = subprocess.run([binary, "--json", "tri", "build", str(file), "--no-verify", *flags], capture_output=True, text=True,
                          timeout=600, check=False)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"error": done.stderr or done.stdout}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frazil", required=True)
    parser.add_argument("--json")
    options = parser.parse_args()
    rows, wrong = [], []
    for source in sorted(EXAMPLES.glob("*.tri")):
        frozen = FROZEN / (source.stem + ".tasm")
        if not frozen.exists():
            print(f"{source.stem:26} has no yardstick")
            continue
        ours, theirs = build(options.frazil, source), build(options.frazil, frozen)
        if "heights" not in ours or "heights" not in theirs or ours["output"] != theirs["output"]:
            wrong.append((source.stem, f"ours {ours.get('error', ours.get('crash', ours.get('output')))}, "
                                       f"frozen {theirs.get('error', theirs.get('crash', theirs.get('output')))}"))
            continue
        ours_top, theirs_top = max(ours["heights"].values()), max(theirs["heights"].values())
        rows.append({"program": source.stem, "height": ours_top, "frozen": theirs_top, "padded": ours["padded"],
                     "frozen_padded": theirs["padded"], "words": ours["words"], "frozen_words": theirs["words"]})
        print(f"{source.stem:26} height {ours_top:8} / {theirs_top:8} = {ours_top / theirs_top:5.3f}   padded {ours['padded']:7} / "
              f"{theirs['padded']:7}   words {ours['words']:5} / {theirs['words']:5}")
    for name, why in wrong:
        print(f"{name:26} {why}")
    if rows:
        geomean = math.exp(sum(math.log(r["height"] / r["frozen"]) for r in rows) / len(rows))
        above = [r for r in rows if r["frozen_padded"] > 1024]
        crossed = [r for r in above if r["padded"] < r["frozen_padded"]]
        worse = [r for r in rows if r["padded"] > r["frozen_padded"]]
        print(f"{len(rows)} programs: geomean of heights {geomean:.3f}; {len(crossed)} of {len(above)} above 2^10 cross a cliff; {len(worse)} padded higher")
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps({"rows": rows, "geomean": geomean, "above": len(above), "crossed": len(crossed), "worse": len(worse)}, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
