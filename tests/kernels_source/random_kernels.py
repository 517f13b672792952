"""Random kernels, for a comparison with CPython: random_kernels.py SEED COUNT > kernels.py

One kind of integer and f64 in each kernel; loops always end; floats stay finite; divisors are never 0.
"""
import random
import sys

KINDS = ["i32", "i64", "u32", "u64", "i16", "u8"]
BITS = {"i32": 32, "i64": 64, "u32": 32, "u64": 64, "i16": 16, "u8": 8}


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.kind = self.random.choice(KINDS)
        self.lines = []
        self.loops = 0      # that a break may leave
        self.counters = 0
        self.budget = self.random.randint(6, 30)
        self.functions = []

    def pick(self, *choices):
        return self.random.choice(choices)

    def literal(self):
        return str(self.random.randint(0, 100))

    def integer(self, depth=0):
        r = self.random.random()
        if depth > 3 or r < 0.25:
            return self.pick("p", "q", "r", "x[i]", f"{self.kind}(i)", f"{self.kind}({self.literal()})")
        a, b = self.integer(depth + 1), self.integer(depth + 1)
        if r < 0.55:
            return f"({a} {self.pick('+', '-', '*', '&', '|', '^')} {self.pick(b, b, self.literal())})"
        if r < 0.65:
            return f"({a} {self.pick('//', '%')} ({b} % 7 + 1))"
        if r < 0.72:
            return f"({a} {self.pick('<<', '>>')} {self.random.randint(0, BITS[self.kind] - 1)})"
        if r < 0.80:
            return f"({a} if {self.condition(depth + 1)} else {b})"  # a literal there has no type in CPython
        if r < 0.86:
            return f"{self.pick('min', 'max')}({a}, {b})"
        if r < 0.90:
            return f"{self.kind}({self.real(depth + 1)})"
        if r < 0.94 and self.functions:
            return f"{self.random.choice(self.functions)}({a}, {b})"
        return self.pick(f"(~{a})", f"(-{a})", f"(+{a})", f"({a} ** {self.random.randint(0, 4)})")

    def real(self, depth=0):
        r = self.random.random()
        if depth > 3 or r < 0.3:
            return self.pick("f", "g", "y[i]", f"f64({self.random.uniform(-2, 2):.3f})")
        a, b = self.real(depth + 1), self.real(depth + 1)
        if r < 0.7:
            return f"({a} {self.pick('+', '-', '*')} {self.pick(b, b, '0.5', '3')})"
        if r < 0.8:
            return f"({a} if {self.condition(depth + 1)} else {b})"
        if r < 0.9:
            return f"{self.pick('min', 'max')}({a}, {b})"
        return self.pick(f"(-{a})", f"abs({a})", f"floor({a})", f"(f64({self.integer(depth + 1)}) * 0.125)")

    def condition(self, depth=0):
        r = self.random.random()
        op = self.pick("<", "<=", ">", ">=", "==", "!=")
        if r < 0.4 or depth > 3:
            return f"({self.integer(depth + 2)} {op} {self.integer(depth + 2)})"
        if r < 0.55:
            return f"({self.real(depth + 2)} {self.pick('<', '>')} {self.real(depth + 2)})"
        if r < 0.65:
            return f"({self.integer(depth + 2)} {op} {self.integer(depth + 2)} {self.pick('<', '<=')} {self.integer(depth + 2)})"
        if r < 0.85:
            return f"({self.condition(depth + 1)} {self.pick('and', 'or')} {self.condition(depth + 1)})"
        if r < 0.93:
            return f"(not {self.condition(depth + 1)})"
        return self.pick("b", "(i > 0 and x[i - 1] > x[i])")

    def put(self, indent, text):
        self.lines.append("    " * indent + text)

    def block(self, indent):
        for _ in range(self.random.randint(1, 4)):
            self.statement(indent)
            if self.lines[-1].strip() in ("break", "continue", "return"):
                return

    def statement(self, indent):
        self.budget -= 1
        r = self.random.random()
        if r < 0.35 or self.budget < 0:
            self.assignment(indent)
        elif r < 0.6:
            self.put(indent, f"if {self.condition()}:")
            self.block(indent + 1)
            while self.random.random() < 0.2:
                self.put(indent, f"elif {self.condition()}:")
                self.block(indent + 1)
            if self.random.random() < 0.5:
                self.put(indent, "else:")
                self.block(indent + 1)
        elif r < 0.8:
            self.loop(indent)
        elif r < 0.9 and self.loops:
            self.put(indent, f"if {self.condition()}:")
            self.assignment(indent + 1)
            self.put(indent + 1, self.pick("break", "continue"))
        elif r < 0.92 and self.loops:
            self.put(indent, self.pick("break", "continue"))
        elif r < 0.95:
            self.put(indent, f"if {self.condition()}:")
            self.put(indent + 1, "return")
        else:
            self.store(indent)

    def store(self, indent):
        self.put(indent, self.pick(f"out[i] {self.pick('=', '+=', '^=')} {self.integer()}",
                                   f"real[i] = min(max({self.real()}, -1e6), 1e6)"))

    def assignment(self, indent):
        r = self.random.random()
        if r < 0.45:
            self.put(indent, f"{self.pick('p', 'q', 'r')} {self.pick('=', '=', '+=', '-=', '*=', '^=')} {self.integer()}")
        elif r < 0.7:
            self.put(indent, f"{self.pick('f', 'g')} = min(max({self.real()}, -1e6), 1e6)")
        elif r < 0.8:
            self.put(indent, f"b = {self.condition()}")
        elif r < 0.9:
            self.put(indent, f"p, q = {self.integer()}, p")
        else:
            self.store(indent)

    def loop(self, indent):
        self.loops += 1
        if self.loops > 2:
            self.loops -= 1
            return self.assignment(indent)
        self.counters += 1
        name = f"k{self.counters}"
        if self.random.random() < 0.6:
            bound = self.pick("5", f"usize({self.integer(3)} % 6)", "n", f"1, {self.random.randint(0, 9)}, 2",
                              f"{self.random.randint(0, 6)}, -1, -1")
            self.put(indent, f"for {name} in range({bound}):")
            self.put(indent + 1, f"r = r {self.pick('+', '^')} {self.kind}({name})")
        else:
            self.put(indent, f"{name} = {self.random.randint(1, 6)}")
            self.put(indent, f"while {name} > 0{self.pick('', ' and ' + self.condition())}:")
            self.put(indent + 1, f"{name} -= 1")
        self.block(indent + 1)
        self.loops -= 1

    def function(self, name):
        self.put(0, f"def {name}(p, q):")
        saved, self.lines = self.lines, []
        depth = lambda: self.pick("p", "q", "(p + q)", "(p * 3)", "(q ^ p)", "(p // (q % 7 + 1))")
        self.put(1, f"t = {depth()}")
        self.put(1, f"if t {self.pick('<', '>')} q:")
        self.put(2, self.pick(f"return {depth()}", f"t = {depth()}"))
        if self.random.random() < 0.5:
            self.put(1, "for k in range(4):")
            self.put(2, f"t += {depth()}")
            self.put(2, f"if t > p:")
            self.put(3, self.pick(f"return t - {depth()}", "break", "continue"))
            self.put(2, f"t ^= {depth()}")
        self.put(1, f"return t + {depth()}")
        self.lines = saved + self.lines
        self.put(0, "")
        self.functions.append(name)

    def write(self, number):
        kind = self.kind
        for f in range(self.random.randint(0, 2)):
            self.function(f"f{number}_{f}")
        self.put(0, f"def k{number}(x: DeviceArray[{kind}], y: DeviceArray[f64], out: DeviceArray[{kind}], "
                    f"real: DeviceArray[f64], n: u32):")
        self.put(1, "i = get_global_id()")
        guard = self.random.random() < 0.5
        self.put(1, "if i < n:" if guard else "if i >= n:")
        if not guard:
            self.put(2, "return")
        indent = 2 if guard else 1
        for line in ("p = x[i]", f"q = {kind}(3)", f"r = {kind}(i)", "f = y[i]", "g = f64(0.5)", "b = p > q"):
            self.put(indent, line)
        while self.budget > 0:
            self.statement(indent)
            if self.lines[-1].strip() == "return":
                break
        self.put(indent, "out[i] = out[i] ^ p ^ (q << 1) ^ r")
        self.put(indent, "real[i] += f - g")
        n = self.random.randint(1, 12)
        self.put(0, f"#: k{number} x={self.pick('rand', 'small')}({n}) y=small({n}) out=zeros({n}) real=zeros({n}) n={n}")
        self.put(0, "")
        self.put(0, "")
        return "\n".join(self.lines)


def main(seed, count):
    for number in range(count):
        print(Writer(f"{seed}:{number}").write(number))


main(int(sys.argv[1]), int(sys.argv[2]))
