#!/usr/bin/env python3
"""Copies of the emitters' sources that contain every listed mutation, each behind its number.

    schemata.py SOURCE_ROOT OUT_FOLDER LIST...    writes OUT_FOLDER/<file> for every file that a list names
    schemata.py --files LIST...                   prints the files that the lists name, relative to src/

A list (see README.md) names a file and its mutations: a number, a class, the text as it stands (`-`), the text in its
place (`+`), and a witness (`=`). Texts are compared token by token, so that formatting does not matter. A text that is
an expression becomes `(Is(17) ? (new) : (old))`; one that ends with `;` becomes an if with both. A text that does not
occur exactly once is an error that names the mutation. Where it occurs more often, an `@` line gives a longer text that
occurs once and contains it once.
"""

import pathlib
import re
import sys

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
      |(?P<token>R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'
        |\d(?:'?[\w.])*|[A-Za-z_]\w*|::|->|\+\+|--|<<=|>>=|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#|.)""",
    re.VERBOSE | re.DOTALL)


MOST = 16384  # as in selected.h


class Mistake(Exception):
    pass


class Mutation:
    def __init__(self, number, kind, where):
        self.number, self.kind, self.where = number, kind, where
        self.old = self.new = None
        self.context = self.witness = ""

    def __str__(self):
        return f"mutation {self.number} ({self.kind}, {self.where})"


def tokens_of(text):
    """[(token, begin, end)] without spaces and comments."""
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match.group("token") is not None:
            found.append((match.group("token"), match.start(), match.end()))
        at = match.end()
    return found


def read_list(path):
    """(file, [Mutation]) of one list."""
    file, mutations = None, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{number}"
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if line.startswith("file "):
            file = words[1]
        elif line[0].isdigit():
            mutations.append(Mutation(int(words[0]), " ".join(words[1:]), where))
        elif not mutations or words[0] not in ("-", "+", "@", "="):
            raise Mistake(f"{where}: a line is `file`, a number with a class, or begins with @ - + =")
        else:
            rest = line.strip()[1:].strip()
            name = {"-": "old", "+": "new", "@": "context", "=": "witness"}[words[0]]
            setattr(mutations[-1], name, rest)
    if file is None:
        raise Mistake(f"{path.name}: names no file")
    for mutation in mutations:
        if not mutation.old or mutation.new is None:
            raise Mistake(f"{mutation}: needs a text (-) and another one (+)")
    return file, mutations


def occurrences(source, wanted):
    """Where the tokens `wanted` stand in `source`: indices of first tokens."""
    first = wanted[0]
    return [i for i in range(len(source) - len(wanted) + 1) if source[i] == first and source[i:i + len(wanted)] == wanted]


def place_of(mutation, source):
    """(first, last + 1) among the tokens of the file."""
    old = [token for token, _, _ in tokens_of(mutation.old)]
    begin, end = 0, len(source)
    if mutation.context:
        context = [token for token, _, _ in tokens_of(mutation.context)]
        found = occurrences(source, context)
        if len(found) != 1:
            raise Mistake(f"{mutation}: its context occurs {len(found)} times, not once: {mutation.context}")
        begin, end = found[0], found[0] + len(context)
    found = [i for i in occurrences(source[begin:end], old)]
    if len(found) != 1:
        raise Mistake(f"{mutation}: its text occurs {len(found)} times, not once: {mutation.old}")
    return begin + found[0], begin + found[0] + len(old)


def is_statement(mutation):
    return mutation.old.rstrip().endswith((";", "}"))


def mutated(text, mutations, file):
    tokens = tokens_of(text)
    source = [token for token, _, _ in tokens]
    places = {}
    for mutation in mutations:
        places.setdefault(place_of(mutation, source), []).append(mutation)
    order = sorted(places, key=lambda place: (place[0], -place[1]))
    for i, (begin, end) in enumerate(order):
        for other_begin, other_end in order[i + 1:]:
            if begin < other_begin < end < other_end:
                raise Mistake(f"{places[begin, end][0]} and {places[other_begin, other_end][0]}: their texts overlap")

    def write(begin, end, inner):
        """The text of tokens begin..end with the places of `inner` replaced; what stands between tokens stays."""
        out, at = "", tokens[begin][1]
        while inner:
            first, last = inner[0]
            nested = [place for place in inner[1:] if place[1] <= last]
            inner = [place for place in inner[1:] if place[0] >= last]
            out += text[at:tokens[first][1]] + schema(places[first, last], write(first, last, nested))
            at = tokens[last - 1][2]
        return out + text[at:tokens[end - 1][2]]

    body = text[:tokens[0][1]] + write(0, len(tokens), order) + text[tokens[-1][2]:]
    return f'#include "mutants/selected.h"\n#line 1 "{file}"\n' + body


def schema(mutations, old):
    for mutation in mutations:
        test = f"::frazil::mutants::Is({mutation.number})"
        if is_statement(mutation):
            old = f"if ({test}) {{ {mutation.new} }} else {{ {old} }}"
        else:
            old = f"({test} ? ({mutation.new}) : ({old}))"
    return old


def main(arguments):
    only_files = arguments[0] == "--files"
    root, out = (None, None) if only_files else map(pathlib.Path, arguments[:2])
    by_file, seen = {}, {}
    for path in map(pathlib.Path, arguments[1 if only_files else 2:]):
        file, mutations = read_list(path)
        for mutation in mutations:
            if mutation.number >= MOST:
                raise Mistake(f"{mutation}: the number is not below {MOST} (selected.h)")
            if mutation.number in seen:
                raise Mistake(f"{mutation}: the number is that of {seen[mutation.number]}")
            seen[mutation.number] = mutation
        by_file.setdefault(file, []).extend(mutations)
    for file, mutations in by_file.items():
        if only_files:
            print(file)
            continue
        made = mutated((root / "src" / file).read_text(), mutations, file)
        target = out / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != made:
            target.write_text(made)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Mistake as mistake:
        sys.exit(f"schemata.py: {mistake}")
