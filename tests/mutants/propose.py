#!/usr/bin/env python3
"""Proposes mutations of a source file, in the form of the lists (README.md) and without witnesses.

    propose.py SOURCE_ROOT FILE FIRST_NUMBER      FILE relative to src/

Small slips of the kind that people make: another comparison, one more or less, swapped arms and operands, a condition
or a statement left out. `mutants --search` then finds out which of them ever answer wrongly; the others are dropped.
"""

import pathlib
import re
import sys

from schemata import occurrences, tokens_of

NAMES = {
    "CreateICmpULT": ["CreateICmpULE", "CreateICmpSLT"], "CreateICmpULE": ["CreateICmpULT"],
    "CreateICmpSLT": ["CreateICmpSLE", "CreateICmpULT"], "CreateICmpSLE": ["CreateICmpSLT"],
    "CreateICmpUGE": ["CreateICmpUGT", "CreateICmpSGE"], "CreateICmpUGT": ["CreateICmpUGE"],
    "CreateICmpSGE": ["CreateICmpSGT"], "CreateICmpSGT": ["CreateICmpSGE"],
    "CreateICmpEQ": ["CreateICmpNE"], "CreateICmpNE": ["CreateICmpEQ"],
    "CreateFCmpUNO": ["CreateFCmpORD"], "CreateFCmpOLT": ["CreateFCmpOLE", "CreateFCmpULT"],
    "CreateFCmpOGT": ["CreateFCmpOGE"], "CreateFCmpOEQ": ["CreateFCmpUEQ"], "CreateFCmpUNE": ["CreateFCmpONE"],
    "CreateFCmpONE": ["CreateFCmpUNE"], "CreateFCmpOLE": ["CreateFCmpOLT"], "CreateFCmpOGE": ["CreateFCmpOGT"],
    "CreateAdd": ["CreateSub"], "CreateSub": ["CreateAdd"], "CreateMul": ["CreateAdd"],
    "CreateAnd": ["CreateOr"], "CreateOr": ["CreateAnd"], "CreateXor": ["CreateOr"],
    "CreateUDiv": ["CreateURem"], "CreateURem": ["CreateUDiv"],
    "CreateAShr": ["CreateLShr"], "CreateLShr": ["CreateAShr"],
    "CreateSExt": ["CreateZExt"], "CreateZExt": ["CreateSExt"],
    "CreateSExtOrTrunc": ["CreateZExtOrTrunc"], "CreateZExtOrTrunc": ["CreateSExtOrTrunc"],
    "CreateSIToFP": ["CreateUIToFP"], "CreateUIToFP": ["CreateSIToFP"],
    "CreateIsNull": ["CreateIsNotNull"], "CreateIsNotNull": ["CreateIsNull"],
    "CreateFAdd": ["CreateFSub"], "CreateFSub": ["CreateFAdd"], "CreateFMul": ["CreateFAdd"],
    "umin": ["umax"], "umax": ["umin"], "smin": ["smax"], "smax": ["smin"], "fshl": ["fshr"], "fshr": ["fshl"],
    "ctlz": ["cttz"], "cttz": ["ctlz"], "floor": ["trunc"], "ceil": ["floor"], "roundeven": ["round"],
    "fptosi_sat": ["fptoui_sat"], "fptoui_sat": ["fptosi_sat"], "usub_sat": ["umin"],
    "sadd_with_overflow": ["uadd_with_overflow"], "uadd_with_overflow": ["sadd_with_overflow"],
    "ssub_with_overflow": ["usub_with_overflow"], "smul_with_overflow": ["umul_with_overflow"],
    "minimum": ["maximum"], "maximum": ["minimum"], "minnum": ["maxnum"], "maxnum": ["minnum"],
    "getSignedMaxValue": ["getSignedMinValue", "getMaxValue"], "getSignedMinValue": ["getZero"],
    "getMaxValue": ["getSignedMaxValue"], "getAllOnes": ["getZero"], "getZero": ["getAllOnes"],
    "getQNaN": ["getInfinity"], "getTrue": ["getFalse"],
    "lo_": ["count_"], "count_": ["lo_"], "first": ["next"], "low": ["high"], "lanes": ["lanes / 2"],
    "is_signed": ["!is_signed"], "mask_": ["nullptr"], "tail_mask_": ["nullptr"],
    "rows": ["columns"], "columns": ["rows"], "min": ["max"], "max": ["min"],
    "any_of": ["all_of"], "all_of": ["any_of"], "none_of": ["any_of"],
    "inits_": ["at_start"], "at_start": ["inits_"], "rest": ["left"], "width": ["(width - 1)"],
}
OPERATORS = {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
             "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"]}
SWAPS = {"CreateSub", "CreateUDiv", "CreateURem", "CreateICmpULT", "CreateICmpSLT", "CreateICmpULE", "CreateICmpUGE",
         "CreateFSub", "CreateShuffleVector", "CreateShl", "CreateLShr", "CreateFCmpOLT", "CreateFDiv"}
SWAP_ARMS = {"CreateSelect", "CreateCondBr"}
DROPS = re.compile(r"^(BailIfAny|TrapIf|TakeFuel|PollStop|BailIfStopped|CheckStack|FlushStores|AddDisjoint|FlushTile|FillTile"
                   r"|EndTurn|CloseScratch|UnitBound|MakeOneNan|builder_\.CreateAlignedStore|builder_\.CreateMaskedStore"
                   r"|Vary|VaryAll|in\.|std::swap|may_bail_|fits =|all =|pays =|runs =|mask_ =|value =|result\[k\] =|rows =|acc =)")
PAIRS = {"(": ")", "[": "]", "{": "}"}


class Source:
    def __init__(self, text):
        self.text = text
        self.tokens = tokens_of(text)
        self.words = [token for token, _, _ in self.tokens]
        self.match, self.owner, stack = {}, [None] * len(self.words), []
        for i, word in enumerate(self.words):
            self.owner[i] = stack[-1] if stack else None
            if word in PAIRS:
                stack.append(i)
            elif word in (")", "]", "}") and stack:
                begin = stack.pop()
                self.match[begin] = i
                self.match[i] = begin
                self.owner[i] = stack[-1] if stack else None

    def written(self, begin, end, changes=None):
        """Tokens begin..end on one line; changes: token -> its text."""
        out, last = "", None
        for i in range(begin, end):
            if last is not None and self.tokens[i][1] > self.tokens[last][2]:
                out += " "
            out += (changes or {}).get(i, self.words[i])
            last = i
        return out

    def is_code_brace(self, i):
        return self.words[i] == "{" and self.words[i - 1] in (")", "const", "override", "else", "do", "noexcept", ";", "{", "}", ":")

    def commas(self, begin, end):
        """The parts of begin..end between commas of this level."""
        parts, start, i = [], begin, begin
        while i < end:
            if self.words[i] in PAIRS:
                i = self.match[i]
            elif self.words[i] in (",", ";"):
                parts.append((start, i))
                start = i + 1
            i += 1
        parts.append((start, end))
        return [part for part in parts if part[0] < part[1]]

    def slots(self, i):
        """Expressions around token i, from the inside out."""
        found = []
        while True:
            around = self.owner[i]
            if around is None:
                return found
            if self.words[around] == "{" and self.is_code_brace(around):
                begin = i
                while self.words[begin - 1] not in (";", "{", "}", ")") or (self.words[begin - 1] == ")" and self.starts_call(begin)):
                    begin -= 1
                    if self.words[begin] == ")" or self.words[begin] == "]":
                        begin = self.match[begin]
                    if self.words[begin - 1] == "}" and not self.is_code_brace(self.match[begin - 1]):
                        begin = self.match[begin - 1]
                end = i
                while self.words[end] != ";":
                    if self.words[end] in PAIRS:
                        end = self.match[end]
                    end += 1
                    if end >= len(self.words):
                        return found
                found.append(self.statement_value(begin, end))
                return [slot for slot in found if slot]
            if self.words[around] in ("(", "{"):
                if self.words[around - 1] == "for" and self.words[around] == "(":
                    parts = self.commas(around + 1, self.match[around])
                    for n, (begin, end) in enumerate(parts):
                        if begin <= i < end and n == len(parts) - 2 and len(parts) >= 3:
                            found.append((begin, end))
                    return found
                for begin, end in self.commas(around + 1, self.match[around]):
                    if begin <= i < end:
                        found.append((begin, end))
            i = around

    def starts_call(self, begin):
        """Is the `)` before this token a part of an expression?"""
        return self.words[begin] in (".", "->", "?", ":", "+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "[", "(", ",")

    def statement_value(self, begin, end):
        if self.words[begin] == "return":
            return (begin + 1, end) if begin + 1 < end else None
        if self.words[begin] in ("case", "constexpr", "using", "static", "if", "for", "else", "default", "}"):
            return None
        i = begin
        while i < end:
            if self.words[i] in PAIRS:
                i = self.match[i]
            elif self.words[i] in ("=", "+="):
                return (i + 1, end)
            i += 1
        return None

    def statement(self, i):
        begin = i
        while begin > 0 and self.words[begin - 1] not in (";", "{", "}"):
            begin -= 1
        end = i
        while end + 1 < len(self.words) and self.words[end] not in (";", "{"):
            end += 1
        return begin, end + 1

    def function_of(self, i):
        """The name of the function around token i."""
        around = self.owner[i]
        name = ""
        while around is not None:
            if self.is_code_brace(around) and self.words[around - 1] in (")", "const", "override"):
                close = around - 1
                while self.words[close] != ")":
                    close -= 1
                before = self.words[self.match[close] - 1]
                if before not in ("if", "for", "while", "switch", "]") and re.match(r"[A-Z]\w*$", before):
                    name = before
                    break
            around = self.owner[around]
        return name


def once(source, begin, end):
    return len(occurrences(source.words, source.words[begin:end])) == 1


def is_plain(source, begin, end):
    words = source.words[begin:end]
    return not any(word in ("{", "[", "auto", "?") and word != "?" for word in words) and "=" not in words


def anchor(source, i, least):
    """The smallest expression around token i that occurs once: (begin, end, context or None)."""
    slots = [slot for slot in source.slots(i) if is_plain(source, *slot)]
    for begin, end in slots:
        if end - begin >= least and end - begin <= 60 and once(source, begin, end):
            return begin, end, None
    for begin, end in slots[:2]:
        first, last = source.statement(i)
        if first <= begin and end <= last and last - first <= 80 and once(source, first, last):
            inner = occurrences(source.words[first:last], source.words[begin:end])
            if len(inner) == 1:
                return begin, end, (first, last)
    return None


def changes_at(source, i):
    """[{token: text}] for token i."""
    word, words = source.words[i], source.words
    spaced = source.tokens[i][1] > source.tokens[i - 1][2]
    found = []
    if word in NAMES and words[i - 1] not in ("*", "&", ">") and (word not in ("lanes", "rows", "columns", "rest", "first", "width") or words[i + 1] not in ("(", ".", "=", "->")):
        if not (word in ("rows", "columns", "width", "lanes", "rest", "first", "low") and words[i - 1] in (".", "->", "::")):
            found += [{i: new} for new in NAMES[word]]
    if word in OPERATORS and spaced and source.tokens[i + 1][1] > source.tokens[i][2] and words[i - 1] not in ("(", ",", "return", "="):
        found += [{i: new} for new in OPERATORS[word]]
    if re.fullmatch(r"\d+[uU]?", word) and words[i - 1] != "<":
        value = int(word.rstrip("uU"))
        found.append({i: str(value + 1) + word[len(str(value)):]})
        if value > 1:
            found.append({i: str(value - 1) + word[len(str(value)):]})
    if (word in SWAPS or word in SWAP_ARMS) and words[i + 1] == "(":
        parts = source.commas(i + 2, source.match[i + 1])
        pair = (1, 2) if word in SWAP_ARMS else (0, 1)
        if len(parts) > pair[1]:
            a, b = parts[pair[0]], parts[pair[1]]
            if words[a[0]:a[1]] != words[b[0]:b[1]]:
                change = {k: "" for part in (a, b) for k in range(*part)}
                change[a[0]] = source.written(*b)
                change[b[0]] = source.written(*a)
                found.append(change)
    if word == "!" and words[i + 1] != "=":
        found.append({i: ""})
    if word in ("&&", "||") and False:
        pass
    return found


def drops(source):
    """Statements left out."""
    for i, word in enumerate(source.words):
        if word in (";", "{", "}") and i + 2 < len(source.words) and source.owner[i + 1] is not None and source.function_of(i + 1):
            first, last = source.statement(i + 1)
            if source.words[last - 1] != ";" or last - first > 60:
                continue
            text = source.written(first, last)
            if DROPS.match(text) and "{" not in text and once(source, first, last):
                yield first, text


def conjuncts(source):
    """Parts of && left out: (anchor, new, place)."""
    for i, word in enumerate(source.words):
        if word != "&&" or not source.function_of(i):
            continue
        for begin, end in source.slots(i)[:1]:
            if not is_plain(source, begin, end) or end - begin > 60 or not once(source, begin, end) or "||" in source.words[begin:end]:
                continue
            parts, start, k = [], begin, begin
            while k < end:
                if source.words[k] in PAIRS:
                    k = source.match[k]
                elif source.words[k] == "&&":
                    parts.append((start, k))
                    start = k + 1
                k += 1
            parts.append((start, end))
            for n, part in enumerate(parts):
                if part[1] == i:
                    rest = parts[:n] + parts[n + 1:]
                    yield source.written(begin, end), " && ".join(source.written(*p) for p in rest), i
                if part[0] == i + 1 and n == len(parts) - 1:
                    yield source.written(begin, end), " && ".join(source.written(*p) for p in parts[:-1]), i


def propose(source):
    """(function, old, new, context)."""
    seen = set()

    def add(place, old, new, context=""):
        if (old, new) in seen or old == new:
            return
        seen.add((old, new))
        made.append((place, source.function_of(place), old, re.sub(r"\s+", " ", new).strip(), context))

    made = []
    for i in range(1, len(source.words) - 1):
        if not source.function_of(i):
            continue
        for change in changes_at(source, i):
            found = anchor(source, i, 4)
            if not found:
                continue
            begin, end, context = found
            if any(not begin <= k < end for k in change):
                continue
            add(i, source.written(begin, end), source.written(begin, end, change), source.written(*context) if context else "")
    for place, text in drops(source):
        add(place, text, ";")
    for old, new, place in conjuncts(source):
        add(place, old, new)
    return sorted(made, key=lambda row: row[0])


def main(root, file, first):
    source = Source((pathlib.Path(root) / "src" / file).read_text())
    print(f"file {file}")
    number = int(first)
    for _, function, old, new, context in propose(source):
        print(f"\n{number} {function}")
        if context:
            print(f"  @ {context}")
        print(f"  - {old}\n  + {new}")
        number += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
