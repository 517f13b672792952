#!/usr/bin/env python3
"""What proofs of the real Triton VM cost, by padded height: time to prove and to verify, bytes, peak memory.

    tools/oracle/measure.py [--oracle build/release/bin/frazil-oracle] [--from 8] [--to 14] [--rounds 3]

Prints a table, the fitted model with its errors, and the constants of src/machines/tasm/heights/proof_cost.cpp. Each proof is
made by a process of its own, so that the peak is its own; times are the least of the rounds. Build the oracle with
`make oracle` first: the one that tests use is built quickly and proves slowly.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program(height):
    """Counts down: about 7/8 of the height in processor rows, so that the padded height is exactly this."""
    count = max(1, height * 7 // 8 // 7)
    return f"push {count} call loop pop 1 halt loop: dup 0 push 0 eq skiz return addi -1 recurse"


def prove(oracle, height):
    request = {"do": "prove", "code": program(height), "max_padded_height": 1 << 26}
    done = subprocess.run([oracle], input=json.dumps(request) + "\n", capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout:
        sys.exit(f"measure: the oracle ended with status {done.returncode} at height {height}; is there enough memory?")
    answer = json.loads(done.stdout)
    if "error" in answer or answer.get("padded_height") != height:
        sys.exit(f"measure: no proof of height {height}: {answer.get('error', answer.get('padded_height'))}")
    return answer


def least_squares(rows, values):
    """Coefficients that minimize the sum of squared relative errors."""
    count = len(rows[0])
    scaled = [[x / value for x in row] for row, value in zip(rows, values)]
    matrix = [[sum(row[i] * row[j] for row in scaled) for j in range(count)] for i in range(count)]
    right = [sum(row[i] for row in scaled) for i in range(count)]
    for i in range(count):
        pivot = max(range(i, count), key=lambda r: abs(matrix[r][i]))
        matrix[i], matrix[pivot], right[i], right[pivot] = matrix[pivot], matrix[i], right[pivot], right[i]
        for r in range(i + 1, count):
            factor = matrix[r][i] / matrix[i][i]
            matrix[r] = [a - factor * b for a, b in zip(matrix[r], matrix[i])]
            right[r] -= factor * right[i]
    solution = [0.0] * count
    for i in reversed(range(count)):
        solution[i] = (right[i] - sum(matrix[i][j] * solution[j] for j in range(i + 1, count))) / matrix[i][i]
    return solution


def height_of(k):
    return 2.0 ** max(k, 9)


def fit(name, basis, points):
    """points: (log2 of the height, value). Prints the fit, its largest error, and that of predicting each point from
    the others, which is the honest one."""
    rows = [basis(k) for k, _ in points]
    values = [value for _, value in points]
    solution = least_squares(rows, values)
    model = lambda k, s=solution: sum(a * b for a, b in zip(s, basis(k)))
    inside = max(abs(model(k) / value - 1) for k, value in points)
    outside = 0.0
    for left_out in range(len(points)):
        rest = points[:left_out] + points[left_out + 1:]
        if len(rest) < len(solution):
            continue
        other = least_squares([basis(k) for k, _ in rest], [value for _, value in rest])
        outside = max(outside, abs(model(points[left_out][0], other) / points[left_out][1] - 1))
    constants = ", ".join(f"{c:.6g}" for c in solution)
    print(f"{name}: {constants}; error of the fit {100 * inside:.1f} %, of a point left out {100 * outside:.1f} %")
    return solution


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", default=os.environ.get("FRAZIL_ORACLE", ROOT / "build/release/bin/frazil-oracle"))
    parser.add_argument("--from", dest="first", type=int, default=8)
    parser.add_argument("--to", dest="last", type=int, default=14)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'height':>8} {'prove s':>9} {'verify ms':>10} {'bytes':>10} {'peak MB':>8}")
    times, verifications, sizes, peaks = [], [], [], []
    for k in range(arguments.first, arguments.last + 1):
        answers = [prove(arguments.oracle, 1 << k) for _ in range(arguments.rounds)]
        seconds = min(answer["prove_seconds"] for answer in answers)
        verify = min(answer["verify_seconds"] for answer in answers)
        size = sum(answer["proof_bytes"] for answer in answers) / len(answers)
        peak = max(answer["peak_bytes"] for answer in answers)
        print(f"{'2^' + str(k):>8} {seconds:9.3f} {1000 * verify:10.1f} {size:10.0f} {peak / 1e6:8.0f}", flush=True)
        times.append((k, seconds))
        verifications.append((k, verify))
        sizes.append((k, size))
        peaks.append((k, peak))
    if len(times) < 5:
        return
    # Randomizers are added to the trace before it is extended: 2^8 costs what 2^9 costs.
    print("with k = log2 of the height, at least 9, and h = 2^k:")
    fit("prove seconds = a + b h + c h k", lambda k: [1, height_of(k), max(k, 9) * height_of(k)], times)
    fit("verify seconds = a + b k", lambda k: [1, max(k, 9)], verifications)
    fit("bytes = a + b k + c k^2", lambda k: [1, max(k, 9), max(k, 9) ** 2], sizes)
    fit("peak bytes = a + b h", lambda k: [1, height_of(k)], peaks)


if __name__ == "__main__":
    main()
