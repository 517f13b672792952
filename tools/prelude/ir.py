"""A small builder for prelude functions: one description, two outputs.

A Function records straight-line SSA (plus `if` and `call`) and prints it as .frz, which is the product,
and as C++, which exists only so that accuracy can be measured at machine speed while a function is
being designed. Both come from the same list of instructions, so they cannot drift apart.
"""

import struct
import textwrap

FLOATS = ("f32", "f64")
C_TYPES = {
    "f32": "float",
    "f64": "double",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "u8": "uint8_t",
    "bool": "bool",
    "index": "int64_t",
}
C_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<",
    "shr": ">>",
}
COMPARES = ("eq", "ne", "lt", "le", "gt", "ge")


def round_to(kind, number):
    """The nearest value of a float type, as a Python float (from mpf, int or float)."""
    value = float(number)
    if kind == "f32":
        # mpmath rounds to 53 bits first; a second rounding to 24 bits is exact enough only when the
        # caller already rounded, so f32 constants are rounded from mpf by `f32_of`.
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return value


def hex_float(value):
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    text = value.hex()
    mantissa, exponent = text.split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}"


class Value:
    def __init__(self, function, kind, name):
        self.function, self.kind, self.name = function, kind, name

    def named(self, name):
        """Gives the value a readable name (made unique within the function)."""
        self.function.rename(self, name)
        return self

    def lift(self, other):
        return other if isinstance(other, Value) else self.function.const(self.kind, other)

    def _binary(self, op, other, swap=False):
        other = self.lift(other)
        a, b = (other, self) if swap else (self, other)
        return self.function.op(op, "bool" if op in COMPARES else self.kind, [a, b])

    def __add__(self, other):
        return self._binary("add", other)

    def __radd__(self, other):
        return self._binary("add", other, True)

    def __sub__(self, other):
        return self._binary("sub", other)

    def __rsub__(self, other):
        return self._binary("sub", other, True)

    def __mul__(self, other):
        return self._binary("mul", other)

    def __rmul__(self, other):
        return self._binary("mul", other, True)

    def __truediv__(self, other):
        return self._binary("div", other)

    def __rtruediv__(self, other):
        return self._binary("div", other, True)

    def __and__(self, other):
        return self._binary("and", other)

    def __or__(self, other):
        return self._binary("or", other)

    def __xor__(self, other):
        return self._binary("xor", other)

    def __lshift__(self, other):
        return self._binary("shl", other)

    def __rshift__(self, other):
        return self._binary("shr", other)

    def __lt__(self, other):
        return self._binary("lt", other)

    def __le__(self, other):
        return self._binary("le", other)

    def __gt__(self, other):
        return self._binary("gt", other)

    def __ge__(self, other):
        return self._binary("ge", other)

    def eq(self, other):
        return self._binary("eq", other)

    def ne(self, other):
        return self._binary("ne", other)

    def mul_hi(self, other):
        return self._binary("mul.hi", other)

    def __neg__(self):
        return self.function.op("neg", self.kind, [self])

    def abs(self):
        return self.function.op("abs", self.kind, [self])

    def sqrt(self):
        return self.function.op("sqrt", self.kind, [self])

    def floor(self):
        return self.function.op("floor", self.kind, [self])

    def copysign(self, other):
        return self._binary("copysign", other)

    def cast(self, kind):
        return self.function.op("cast", kind, [self])

    def bits(self, kind=None):
        """The same bits as another type; by default float <-> unsigned of the same width."""
        default = {"f32": "u32", "f64": "u64", "u32": "f32", "u64": "f64"}
        return self.function.op("bitcast", kind or default[self.kind], [self])


class Function:
    """One function. Constants are kept unique and stand first."""

    def __init__(self, name, params, results, comment=""):
        self.name, self.results, self.comment = name, list(results), comment
        self.constants = {}
        self.names = set()
        self.body = []
        self.blocks = [self.body]
        self.count = 0
        self.params = [Value(self, kind, self.unique(n)) for n, kind in params]

    def unique(self, name):
        candidate, n = name, 1
        while candidate in self.names:
            n += 1
            candidate = f"{name}.{n}"
        self.names.add(candidate)
        return candidate

    def fresh(self):
        self.count += 1
        return self.unique(f"v{self.count}")

    def rename(self, value, name):
        self.names.discard(value.name)
        value.name = self.unique(name)

    def const(self, kind, number, name=None):
        if kind in FLOATS:
            number = f32_of(number) if kind == "f32" else round_to(kind, number)
            key = (kind, struct.pack("<d", number))
        else:
            number = bool(number) if kind == "bool" else int(number)
            key = (kind, number)
        if key not in self.constants:
            self.constants[key] = (
                Value(self, kind, self.unique(name or f"c{len(self.constants)}")),
                number,
            )
        return self.constants[key][0]

    def op(self, op, kind, operands, **extra):
        value = Value(self, kind, self.fresh())
        self.blocks[-1].append(("op", op, value, operands, extra))
        return value

    def select(self, condition, a, b):
        kind = a.kind if isinstance(a, Value) else b.kind
        a, b = (v if isinstance(v, Value) else self.const(kind, v) for v in (a, b))
        return self.op("select", a.kind, [condition, a, b])

    def lookup(self, table, index):
        """Element of a data table (a Table); the index is any integer value."""
        if index.kind != "index":
            index = index.cast("index")
        return self.op("lookup", table.kind, [index], table=table)

    def call(self, callee, *arguments):
        results = [Value(self, kind, self.fresh()) for kind in callee.results]
        self.blocks[-1].append(("call", callee, results, list(arguments)))
        return results[0] if len(results) == 1 else results

    def branch(self, condition, kinds, then_body, else_body):
        """`if` with results; the bodies are Python functions that return what they yield."""
        results = [Value(self, kind, self.fresh()) for kind in kinds]
        sides = []
        for body in (then_body, else_body):
            self.blocks.append([])
            yielded = body()
            sides.append((self.blocks.pop(), list(yielded)))
        self.blocks[-1].append(("if", condition, results, sides))
        return results

    def ret(self, *values):
        """Ends the function and drops what nothing uses."""
        self.returned = list(values)
        used = {id(v) for v in values}
        self.body = self._live(self.body, used)
        self.constants = {key: item for key, item in self.constants.items() if id(item[0]) in used}

    def _live(self, block, used):
        kept = []
        for item in reversed(block):
            results = [item[2]] if item[0] == "op" else item[2]
            if not any(id(r) in used for r in results):
                continue
            if item[0] == "if":
                used.add(id(item[1]))
                sides = []
                for body, yielded in item[3]:
                    used.update(id(v) for v in yielded)
                    sides.append((self._live(body, used), yielded))
                item = (*item[:3], sides)
            else:
                used.update(id(v) for v in item[3])
            kept.append(item)
        return kept[::-1]

    # --- .frz ---------------------------------------------------------------------------------------
    def frz(self):
        lines = comment_lines(self.comment)
        params = ", ".join(f"%{p.name}: {p.kind}" for p in self.params)
        lines.append(f"func @{self.name}({params}) -> ({', '.join(self.results)}) {{")
        for value, number in self.constants.values():
            lines.append(f"  %{value.name} = const {literal(value.kind, number)} : {value.kind}")
        self._frz_block(self.body, "  ", lines)
        lines.append("  return " + ", ".join(f"%{v.name}" for v in self.returned))
        lines.append("}")
        return "\n".join(lines) + "\n"

    def _frz_block(self, block, indent, lines):
        names = lambda values: ", ".join(f"%{v.name}" for v in values)
        for item in block:
            if item[0] == "op":
                _, op, value, operands, extra = item
                # The written type is the operands' for arithmetic and comparisons, else the
                # result's.
                kind = operands[0].kind if op in COMPARES else value.kind
                table = f"@{extra['table'].name}, " if op == "lookup" else ""
                lines.append(f"{indent}%{value.name} = {op} {table}{names(operands)} : {kind}")
            elif item[0] == "call":
                _, callee, results, arguments = item
                lines.append(f"{indent}{names(results)} = call @{callee.name}({names(arguments)})")
            else:
                _, condition, results, sides = item
                kinds = ", ".join(r.kind for r in results)
                lines.append(f"{indent}{names(results)} = if %{condition.name} -> ({kinds}) {{")
                for i, (body, yielded) in enumerate(sides):
                    self._frz_block(body, indent + "  ", lines)
                    lines.append(f"{indent}  yield {names(yielded)}")
                    lines.append(indent + ("} else {" if i == 0 else "}"))

    # --- C++ ----------------------------------------------------------------------------------------
    def cpp(self):
        single = len(self.results) == 1
        result = (
            C_TYPES[self.results[0]]
            if single
            else f"std::tuple<{', '.join(C_TYPES[k] for k in self.results)}>"
        )
        params = ", ".join(f"{C_TYPES[p.kind]} {c_name(p.name)}" for p in self.params)
        lines = [f"static inline {result} {c_name(self.name)}({params}) {{"]
        for value, number in self.constants.values():
            lines.append(
                f"  const {C_TYPES[value.kind]} {c_name(value.name)} = {c_literal(value.kind, number)};"
            )
        self._cpp_block(self.body, "  ", lines)
        returned = ", ".join(c_name(v.name) for v in self.returned)
        lines.append(f"  return {returned if single else '{' + returned + '}'};")
        lines.append("}")
        return "\n".join(lines) + "\n"

    def _cpp_block(self, block, indent, lines):
        for item in block:
            if item[0] == "op":
                _, op, value, operands, extra = item
                expression = c_expression(
                    op, value.kind, [c_name(o.name) for o in operands], operands, extra
                )
                lines.append(
                    f"{indent}const {C_TYPES[value.kind]} {c_name(value.name)} = {expression};"
                )
            elif item[0] == "call":
                _, callee, results, arguments = item
                call = f"{c_name(callee.name)}({', '.join(c_name(a.name) for a in arguments)})"
                target = (
                    c_name(results[0].name)
                    if len(results) == 1
                    else "[" + ", ".join(c_name(r.name) for r in results) + "]"
                )
                lines.append(f"{indent}const auto {target} = {call};")
            else:
                _, condition, results, sides = item
                for r in results:
                    lines.append(f"{indent}{C_TYPES[r.kind]} {c_name(r.name)};")
                for i, (body, yielded) in enumerate(sides):
                    lines.append(
                        indent + (f"if ({c_name(condition.name)}) {{" if i == 0 else "} else {")
                    )
                    self._cpp_block(body, indent + "  ", lines)
                    for r, y in zip(results, yielded):
                        lines.append(f"{indent}  {c_name(r.name)} = {c_name(y.name)};")
                lines.append(indent + "}")

    def instruction_count(self):
        def count(block):
            return sum(
                1 + (sum(count(s[0]) for s in item[3]) if item[0] == "if" else 0) for item in block
            )

        return count(self.body) + len(self.constants)


class Table:
    """A constant data table."""

    def __init__(self, name, kind, numbers, comment=""):
        self.name, self.kind, self.comment = name, kind, comment
        self.numbers = [float(n) if kind in FLOATS else int(n) for n in numbers]

    def frz(self):
        lines = comment_lines(self.comment)
        items, rows, row = [literal(self.kind, n) for n in self.numbers], [], ""
        for item in items:
            if len(row) + len(item) > 96:
                rows.append(row.rstrip())
                row = ""
            row += item + ", "
        rows.append(row.rstrip().rstrip(","))
        body = "\n  ".join(rows)
        lines.append(f"data @{self.name} : {self.kind} [\n  {body}\n]")
        return "\n".join(lines) + "\n"

    def cpp(self):
        items = ", ".join(c_literal(self.kind, n) for n in self.numbers)
        return f"static const {C_TYPES[self.kind]} {c_name(self.name)}[] = {{{items}}};\n"


def comment_lines(text):
    return ["// " + line for line in textwrap.wrap(" ".join(text.split()), 97)]


def f32_of(number):
    """Rounds once to f32, from mpf as well."""
    try:
        import mpmath

        if isinstance(number, mpmath.mpf) and mpmath.isfinite(number) and number != 0:
            with mpmath.workprec(24):
                number = +number
    except ImportError:
        pass
    return round_to("f32", number)


def literal(kind, number):
    if kind in FLOATS:
        return hex_float(number)
    if kind == "bool":
        return "true" if number else "false"
    return hex(number) if kind in ("u32", "u64") and number > 4096 else str(number)


def c_literal(kind, number):
    if kind in FLOATS:
        if number != number:
            return '__builtin_nan("")'
        if number in (float("inf"), float("-inf")):
            return ("-" if number < 0 else "") + "__builtin_inf()"
        return hex_float(number) + ("f" if kind == "f32" else "")
    if kind == "bool":
        return "true" if number else "false"
    suffix = {"u32": "u", "u64": "ull", "i64": "ll", "index": "ll"}.get(kind, "")
    return f"{number}{suffix}"


def c_name(name):
    return "f_" + name.replace(".", "_")


def c_expression(op, kind, names, operands, extra):
    if op in C_BINARY:
        return f"{names[0]} {C_BINARY[op]} {names[1]}"
    if op == "neg":
        return f"-{names[0]}"
    if op in ("abs", "sqrt", "floor"):
        return f"std::{op}({names[0]})"
    if op == "copysign":
        return f"std::copysign({names[0]}, {names[1]})"
    if op == "select":
        return f"{names[0]} ? {names[1]} : {names[2]}"
    if op == "cast":
        if operands[0].kind in FLOATS and kind not in FLOATS:
            raise ValueError("float to integer casts saturate: not used in the prelude")
        return f"static_cast<{C_TYPES[kind]}>({names[0]})"
    if op == "bitcast":
        return f"std::bit_cast<{C_TYPES[kind]}>({names[0]})"
    if op == "lookup":
        return f"{c_name(extra['table'].name)}[{names[0]}]"
    if op == "not" and kind == "bool":
        return f"!{names[0]}"
    if op == "mul.hi" and kind == "u32":
        return f"static_cast<uint32_t>((static_cast<uint64_t>({names[0]}) * {names[1]}) >> 32)"
    if op == "mul.hi" and kind == "u64":
        return f"static_cast<uint64_t>((static_cast<unsigned __int128>({names[0]}) * {names[1]}) >> 64)"
    raise ValueError(f"no C++ form for {op} on {kind}")
