"""The machine code of every standard kernel, level by level: at most 32 KB, both of its forms together.

Most keep only one that serves as both; attention keeps both on all levels, because on one of them some code of its pieces
never ran before the judge."""
import collections
import re
import sys

MOST_BYTES = 32_000
LEVELS = ["baseline", "avx2", "avx512"]
LABEL = re.compile(r"^\.Lfrazil_kernel_frazil_stdlib_(\w+)\.(?:plain|ranged)(\d):$")
WIDTHS = {".quad": 8, ".long": 4, ".short": 2, ".byte": 1}


def sizes(lines):
    found = collections.Counter()
    here = None
    for line in lines:
        line = line.strip().removeprefix('R"asm(')
        label = LABEL.match(line)
        if label:
            here = label.group(1), int(label.group(2))
        elif line.endswith(":") or line.startswith((".popsection", ".pushsection")):
            here = None
        elif here is not None and line.split(" ", 1)[0] in WIDTHS:
            directive, values = line.split(" ", 1)
            found[here] += WIDTHS[directive] * (values.count(",") + 1)
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        found = sizes(file)
    kernels = {kernel for kernel, _ in found}
    failures = 0
    if len(kernels) < 60:
        print(f"FAILED: only {len(kernels)} kernels with code were found in {sys.argv[1]}")
        failures += 1
    for (kernel, level), size in sorted(found.items(), key=lambda item: -item[1]):
        if size > MOST_BYTES:
            print(f"FAILED: kernel {kernel}, {LEVELS[level]}: {size:,} bytes of code, and {MOST_BYTES:,} are allowed")
            failures += 1
    totals = [sum(size for (_, at), size in found.items() if at == level) for level in range(len(LEVELS))]
    print(f"{len(kernels)} kernels, {' / '.join(f'{total / 1000:.1f}' for total in totals)} KB, "
          f"the largest {max(found.values(), default=0):,} bytes")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
