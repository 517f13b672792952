"""The compiler of kernels as a program: what it writes, when it works again, and how it complains."""
import argparse
import hashlib
import hmac
import os
import re
import shutil
import subprocess
import sys
import time

SAXPY = """def saxpy(a: f32, x: DeviceArray[f32], y: DeviceArray[f32], n: u32):
    i = get_global_id()
    if i < n:
        y[i] = a * x[i] + y[i]
"""

# A buffer with a zero in it, or any number in the second one, never ends.
ENDLESS = {"collatz": """def collatz(x: DeviceArray[u64], steps: DeviceArray[u32], n: u32):
    i = get_global_id()
    if i < n:
        v = x[i]
        c = u32(0)
        while v != 1:
            v = v // 2 if v % 2 == 0 else 3 * v + 1
            c += 1
        steps[i] = c
""", "halve": """def halve(x: DeviceArray[i64], y: DeviceArray[i64], n: u32):
    i = get_global_id()
    if i < n:
        v = x[i]
        while v != 12345:
            v = v // 2
        y[i] = v
"""}
# Five seconds on an idle machine, where it took 78; this one may be busy.
ENDLESS_SECONDS = 25
HEADER = 56  # of a file of the store: magic 8, schema 4, kind 4, length 8, digest 32


class Check:
    def __init__(self, arguments):
        self.arguments = arguments
        self.out = os.path.join(arguments.scratch, "out")
        self.store = os.path.join(arguments.scratch, "store")
        self.failures = []

    def path(self, name):
        return os.path.join(self.arguments.scratch, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def build(self, *files, name="my_ops", targets="native,isa"):
        return subprocess.run([self.arguments.stage0, "--out", self.out, "--name", name, "--targets", targets, *files],
                              capture_output=True, text=True)

    def expect(self, holds, what, done=None):
        if holds:
            return
        self.failures.append(what)
        print(f"FAILED: {what}")
        if done is not None:
            print(done.returncode, done.stdout, done.stderr, sep="\n")

    def times(self):
        return {name: os.stat(os.path.join(self.out, name)).st_mtime_ns for name in os.listdir(self.out)}

    def run(self):
        saxpy = self.write("saxpy.py", SAXPY)
        pick = os.path.join(self.arguments.kernels, "pick.frz")
        stream = os.path.join(self.arguments.kernels, "stream.frz")

        done = self.build(saxpy, pick, stream)
        self.expect(done.returncode == 0, "a build of two kernels and one that cannot be embedded", done)
        self.expect({"my_ops.hpp", "my_ops.cpp", "saxpy.frzb", "pick.frzb"} <= set(os.listdir(self.out)), "its files")
        self.expect("stream: not native: it reads or writes streams" in done.stdout, "a reason instead of silence", done)
        self.expect(re.search(r"^saxpy +\d+.* proved \(.*compiled$", done.stdout, re.M), "a row for saxpy", done)

        before = self.times()
        done = self.build(saxpy, pick, stream)
        self.expect(done.stdout.count("  cached\n") == 3 and "compiled\n" not in done.stdout, "all cached", done)
        self.expect(before == self.times(), "nothing is written twice")

        self.write("saxpy.py", SAXPY.replace("a * x[i] + y[i]", "a * x[i] - y[i]"))
        done = self.build(saxpy, pick, stream)
        self.expect(re.search(r"^saxpy .*compiled$", done.stdout, re.M) and done.stdout.count("  cached\n") == 2,
                    "only what changed is compiled", done)
        self.expect(before["my_ops.cpp"] != self.times()["my_ops.cpp"], "new code is written")
        self.expect(before["my_ops.hpp"] == self.times()["my_ops.hpp"], "an unchanged header keeps its time")

        done = self.build(saxpy, pick, stream, targets="native")
        self.expect(done.stdout.count("  compiled\n") == 3, "other targets are other work", done)

        # Damaged work is a miss.
        for unit in self.contents():
            with open(unit, "r+b") as file:
                file.seek(100)
                file.write(b"damage")
        done = self.build(saxpy, pick, stream, targets="native")
        self.expect(done.returncode == 0 and done.stdout.count("  compiled\n") == 3, "damaged units are made again", done)
        self.run_errors(saxpy, pick)
        self.run_endless()
        self.run_planted(pick)
        return 1 if self.failures else 0

    # Whoever can write to the folder of finished work, and knows how its files are made, must not be able to put code into
    # a program: only this installation's key can seal a unit.
    def run_planted(self, pick):
        shutil.rmtree(os.path.join(self.store, "cas"))
        done = self.build(pick, targets="native")
        self.expect(len(self.contents()) == 1, "one unit", done)
        with open(self.contents()[0], "rb") as file:
            frame = file.read()
        sealed = frame[HEADER:]
        with open(os.path.join(self.out, "my_ops.cpp"), "rb") as file:
            honest = file.read()
        # The first bytes of code that the generated file shows, as the unit has them.
        quads = re.search(rb"\.Lfrazil_kernel_my_ops_\w+\.(?:plain|ranged)0:\n\.quad ([^\n]+)\n", honest).group(1).split(b",")
        code = b"".join(int(quad, 16).to_bytes(8, "little") for quad in quads)
        self.expect(sealed.count(code) >= 1, "the unit holds the code")
        planted = sealed.replace(code, b"\xc3" + code[1:])[:-32]
        for mac in [hashlib.sha256(planted).digest(), hmac.new(bytes(32), planted, hashlib.sha256).digest(), sealed[-32:]]:
            self.plant(frame[:16], planted + mac)
            done = self.build(pick, targets="native")
            self.expect("is not used: it was not made by this installation, or was changed since" in done.stdout and
                        done.stdout.count("  compiled\n") == 1, "a planted unit is discarded with a sentence", done)
            with open(os.path.join(self.out, "my_ops.cpp"), "rb") as file:
                self.expect(file.read() == honest, "and what is embedded is what was judged")
        done = self.build(pick, targets="native")
        self.expect(done.stdout.count("  cached\n") == 1 and "is not used" not in done.stdout, "then it is made again", done)

    def contents(self):
        return [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(self.store, "cas")) for name in names]

    # A content with every digest and record right, as anybody can make it who can write to the folder.
    def plant(self, start, payload):
        def framed(head, content):
            return head + len(content).to_bytes(8, "little") + hashlib.sha256(content).digest() + content

        digest = hashlib.sha256(payload).hexdigest()
        for old in self.contents():
            name = os.path.basename(old)
            for folder, _, records in os.walk(os.path.join(self.store, "ac")):
                for record in records:
                    path = os.path.join(folder, record)
                    with open(path, "rb") as file:
                        data = file.read()
                    content = data[HEADER:].replace(name.encode(), digest.encode())
                    with open(path, "wb") as file:
                        file.write(framed(data[:16], content))
            os.remove(old)
        place = os.path.join(self.store, "cas", digest[:2])
        os.makedirs(place, mode=0o700, exist_ok=True)
        with open(os.path.join(place, digest), "wb") as file:
            file.write(framed(start, payload))

    def run_errors(self, saxpy, pick):
        kept = self.times()
        wrong = self.write("wrong.py", SAXPY.replace("saxpy", "wrong").replace("y[i] = a", "y[i] = b"))
        done = self.build(saxpy, pick, wrong, targets="native")
        self.expect(done.returncode == 1 and re.search(r"wrong\.py:4:\d+: error FRZ1001", done.stdout),
                    "a located error of the source", done)
        self.expect(kept == self.times(), "after an error nothing is written")
        twice = self.write("twice.py", SAXPY)
        done = self.build(saxpy, twice)
        self.expect(done.returncode == 1 and "kernel 'saxpy' needs a function saxpy, and so does kernel 'saxpy' of" in done.stdout, "one name twice", done)
        for command, code, sentence in [
                ([saxpy, "--out", self.out, "--name", "class"], 1, "cannot be the name of a C++ namespace"),
                ([saxpy, "--out", self.out, "--targets", "native,fpga"], 64, "'fpga' is no target of kernels"),
                ([self.path("absent.py"), "--out", self.out], 4, "is not a file that can be read"),
                ([self.write("a.txt", ""), "--out", self.out], 1, "are read from .py, .json, .cir and .frz"),
                (["--out", self.out], 1, "no kernels were given"),
                ([saxpy], 64, "--out is missing")]:
            done = subprocess.run([self.arguments.stage0, *command], capture_output=True, text=True)
            self.expect(done.returncode == code and sentence in done.stderr, f"the complaint: {sentence}", done)

    def run_endless(self):
        for name, text in ENDLESS.items():
            start = time.monotonic()
            done = self.build(self.write(f"{name}.py", text), name=name, targets="native")
            took = time.monotonic() - start
            self.expect(done.returncode == 0, f"a build of {name}", done)
            self.expect(took < ENDLESS_SECONDS, f"{name} takes {took:.1f} s to build", done)
        self.expect(re.search(r"halve: not native baseline: no verdict: ", done.stdout),
                    "code that nearly no input can judge is not embedded, and why", done)


def main():
    parser = argparse.ArgumentParser()
    for name in ["stage0", "scratch", "kernels"]:
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    shutil.rmtree(arguments.scratch, ignore_errors=True)
    os.makedirs(arguments.scratch)
    # Where finished work is kept, and the key of this installation.
    os.environ["FRAZIL_STORE"] = os.path.join(arguments.scratch, "store")
    return Check(arguments).run()


if __name__ == "__main__":
    sys.exit(main())
