"""Inputs on which a function ends well. Words are drawn all different, so that a failing assertion says which of them
to change: what is compared is looked up among the inputs and set to what it is compared with."""
from corpus import WIDTHS

P = 2**64 - 2**32 + 1
TOKENS, DIGESTS, PUBLIC = 1200, 40, 60
U32_OPS = {"lt", "and", "xor", "log_2_floor", "pow", "div_mod", "pop_count"}


class Inputs:
    """Everything that a call can see: stack (our order), public input, secrets, RAM."""

    def __init__(self, params, rng, memory):
        self.params, self.rng = params, rng
        pool = rng.sample(range(2, 60000), 4000)
        # Where memory is used, small numbers are lengths, and places in it are far apart.
        style = "pointers" if memory else rng.choice(["plain", "plain", "small", "pointers", "wide"])
        self.stack, pointer = [], 1000
        for kind in params:
            for _ in range(WIDTHS[kind]):
                if kind == "bool":
                    word = rng.randrange(2)
                elif style == "small" and kind != "digest":
                    word = rng.randrange(9)
                elif style == "pointers" and kind != "digest":
                    word = rng.choice([pointer, pointer, rng.randrange(0, 7)])
                    pointer += 1000
                elif style == "wide":
                    word = rng.choice([rng.randrange(2**32), 2**32 - 1, 2**31, 0, 1] if kind == "u32" else [rng.randrange(P), P - 1, 0])
                else:
                    word = pool.pop()
                self.stack.append(word)
        self.public = [pool.pop() for _ in range(PUBLIC)]
        self.tokens = [pool.pop() for _ in range(TOKENS)]
        self.digests = [[pool.pop() for _ in range(5)] for _ in range(DIGESTS)]
        self.ram = {}
        if style == "pointers":
            self.ram = {base + i: pool.pop() for base in range(1000, 9000, 1000) for i in range(-8, 24)}

    def places(self):
        for words in [self.stack, self.public, self.tokens, *self.digests]:
            for i in range(len(words)):
                yield words, i
        for address in self.ram:
            yield self.ram, address

    def set_equal(self, one, other):
        """Makes an input that is `one` into `other`, or the other way round."""
        for old, new in ((one, other), (other, one)):
            found = [(words, i) for words, i in self.places() if words[i] == old]
            if found and old > 1:
                for words, i in found:
                    words[i] = new
                return True
        return False

    def raise_difference(self, below):
        """Something less something is -below: makes the first as large as the second. Or a small constant less an input."""
        values = {words[i] for words, i in self.places()}
        for words, i in self.places():
            if words[i] + below in values:
                words[i] += below + self.rng.randrange(100)
                return True
        for words, i in self.places():
            if below < words[i] <= below + 64:
                words[i] = self.rng.randrange(words[i] - below + 1)
                return True
        return False

    def arguments(self, order):
        secret = [str(t) for t in self.tokens] + [":".join(map(str, d)) for d in self.digests]
        flags = ["--stack", ",".join(str(self.stack[i]) for i in order) or " ", "--input", ",".join(map(str, self.public)),
                 "--secret", ",".join(secret)]
        if self.ram:
            flags += ["--ram", ",".join(f"{a}={v}" for a, v in self.ram.items())]
        return flags


def satisfy(inputs, call, code, tries=60):
    """Changes the inputs until call() ends well; its answer, or None. `code`: the instructions in order."""
    for _ in range(tries):
        answer = call(None)
        if answer is None:
            return None
        crash = answer.get("crash")
        if crash is None:
            return answer
        op = code[crash["instruction"]].split()[0]
        stack = answer["stack"]
        if op == "assert_vector":
            pairs = [(a, b) for a, b in zip(stack[-5:], stack[-10:-5]) if a != b]
            if not all([inputs.set_equal(a, b) for a, b in pairs]):
                return None
        elif op == "assert":
            before = call(crash["cycle"] - 1)
            made = code[before["crash"]["instruction"]].split()[0] if before and "crash" in before else ""
            top = before["stack"] if before else []
            if made == "eq" and len(top) >= 2:
                if not inputs.set_equal(top[-1], top[-2]):
                    return None
            elif not (stack and inputs.set_equal(stack[-1], 1)):
                return None
        elif op in U32_OPS:
            large = [w for w in stack[-2:] if w >= 2**32]
            if not large or not all([inputs.set_equal(w, inputs.rng.randrange(2, 60000)) or inputs.raise_difference(P - w) for w in large]):
                return None
        else:
            return None
    return None
