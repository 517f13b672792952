"""The usage comment of a header as a program: usage_comment.py HEADER INCLUDE > main.cpp

Its lines are those behind "//   ", as they stand there.
"""
import sys


def main(header, include):
    with open(header, encoding="utf-8") as file:
        lines = [line[5:] for line in file if line.startswith("//   ")]
    assert lines, f"{header} has no usage comment"
    print(f'#include "{include}"\n\nint main() {{')
    print("".join("  " + line for line in lines), end="")
    print("}")


main(*sys.argv[1:])
