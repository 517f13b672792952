"""What compare.py reads: functions of hand-written assembly, their declarations in Trident, and words on the stack."""
import json
import re
import subprocess

WIDTHS = {"field": 1, "u32": 1, "bool": 1, "xfield": 3, "digest": 5}


def frazil(binary, *arguments):
    """(exit code, answer)"""
    done = subprocess.run([binary, "--json", *arguments], capture_output=True, text=True, timeout=120, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError:
        return done.returncode, {"error": {"message": (done.stderr or done.stdout)[-300:].strip()}}


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
    """The function and everything it calls, and what of that is not there."""
    order, todo, missing = [], [label], []
    while todo:
        name = todo.pop()
        if name in order or name in missing:
            continue
        if name not in functions:
            missing.append(name)
            continue
        order.append(name)
        for line in functions[name]:
            words = line.split()
            todo += [words[i + 1] for i, word in enumerate(words) if word == "call"]
    return order, missing


def declarations(tri):
    """name -> (the declaration up to its body, whether it is an intrinsic without one, whether it has sizes)"""
    found = {}
    pattern = r"(#\[intrinsic\([^)]*\)\]\s*)?(?:pub\s+)?fn\s+(\w+)\s*(<[^>]*>)?\s*(\((?:[^()]|\([^()]*\))*\)\s*(?:->\s*[^{\n]+)?)"
    for match in re.finditer(pattern, tri):
        found[match.group(2)] = (match.group(4).strip(), bool(match.group(1)), bool(match.group(3)))
    return found


def wrapper(source, name, declaration):
    """The source with one more function that only calls `name`, which is an intrinsic without a body."""
    names = re.findall(r"(\w+)\s*:", declaration.split("->")[0])
    return f"{source}\n\npub fn {name}_called{declaration} {{\n    {name}({', '.join(names)})\n}}\n"


def layouts(types, last_first=False):
    """Ways to keep values on the stack: with the first word of wide ones on top, as ours; with the last. Each is the places
    of our words. `last_first`: the first value on top."""
    starts, at = [], 0
    for kind in types:
        starts.append(list(range(at, at + WIDTHS[kind])))
        at += WIDTHS[kind]
    starts = starts[::-1] if last_first else starts
    natural = [word for words in starts for word in words]
    turned = [word for words in starts for word in words[::-1]]
    return [natural] if natural == turned else [natural, turned]


def permute(order):
    """Instructions that bring the words 0, 1, ... (bottom first) into that order; None if they are too many."""
    stack, lines = list(range(len(order))), []
    if order == stack:
        return []
    if len(order) > 16:
        return None
    for word in order:
        depth = len(stack) - 1 - stack.index(word)
        if depth:
            lines.append(f"pick {depth}")
        stack.append(stack.pop(stack.index(word)))
    return lines


def inverse(order):
    out = [0] * len(order)
    for place, word in enumerate(order):
        out[word] = place
    return out


def harness(label, body, params, results, take, give, whole):
    """Code that reads the arguments in our order, each in its type's range, turns them into the function's order, calls, and
    turns the results back: a fragment that leaves them on the stack, or a whole program that writes them."""
    before, after = permute(take), permute(inverse(give))
    if before is None or after is None:
        return None
    lines = []
    for kind in params:
        for _ in range(WIDTHS[kind]):
            lines.append("read_io 1")
            if kind == "u32":
                lines += ["dup 0", "split", "pop 1", "push 0", "eq", "assert"]
            if kind == "bool":
                lines += ["dup 0", "dup 0", "mul", "dup 1", "eq", "assert"]
    end = ["write_io 1"] * len(give) + ["halt"] if whole else ["return"]
    return "\n".join(lines + before + [f"call {label}"] + after + end + [body]) + "\n"


def linked(functions, others):
    """The functions of a file with those of other files that they may call: by label, or by file and name."""
    known = {}
    for stem, more in others:
        for label, lines in more.items():
            known.setdefault(label, lines)
            known.setdefault(f"__{stem}_{label.lstrip('_')}", lines)
    known.update(functions)
    return known
