"""frazil audit on a program with embedded kernels: as it is, stripped, without names of sections, as an object file; and
changed by somebody: an instruction, a descriptor, a record, a length."""
import argparse
import os
import re
import shutil
import struct
import subprocess
import sys

MAGIC = b"frazil kernel \x1a\n"
NOTHING = b"\x31\xc0\xc3"  # xor eax, eax; ret
CRASH = b"\x0f\x0b"  # ud2


class Program:
    """The bytes of an ELF file, and where its addresses lie in it."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        offset, = struct.unpack_from("<Q", self.bytes, 32)
        count, = struct.unpack_from("<H", self.bytes, 56)
        self.segments = []
        for i in range(count):
            kind, _, at, address, _, size = struct.unpack_from("<IIQQQQ", self.bytes, offset + 56 * i)
            if kind == 1:
                self.segments.append((address, at, size))

    def place(self, address):
        for start, at, size in self.segments:
            if start <= address < start + size:
                return at + address - start
        raise KeyError(hex(address))

    def address(self, place):
        for start, at, size in self.segments:
            if at <= place < at + size:
                return start + place - at
        raise KeyError(place)

    def follow(self, place):
        distance, = struct.unpack_from("<i", self.bytes, place)
        return self.address(place) + distance

    def record(self, name):
        """Where the record of a kernel begins."""
        wanted = struct.pack("<Q", len(name)) + name.encode()
        at = self.bytes.find(MAGIC)
        while at >= 0:
            forms, = struct.unpack_from("<I", self.bytes, at + 28)
            body = at + 32 + 4 * forms
            if self.bytes[body:body + len(wanted)] == wanted:
                return at
            at = self.bytes.find(MAGIC, at + 16)
        raise KeyError(name)

    def code(self, name, form):
        return self.place(self.follow(self.record(name) + 32 + 4 * form))


class Check:
    def __init__(self, arguments):
        self.arguments = arguments
        self.failed = False

    def path(self, name):
        return os.path.join(self.arguments.scratch, name)

    def audit(self, path, code, *sentences, flags=()):
        done = subprocess.run([self.arguments.frazil, "audit", path, *flags], capture_output=True, text=True)
        for sentence in sentences:
            if not re.search(sentence, done.stdout + done.stderr):
                self.complain(f"{path}: nothing like '{sentence}'", done)
        if done.returncode != code:
            self.complain(f"{path}: exit code {done.returncode}, not {code}", done)
        return done.stdout

    def complain(self, what, done):
        self.failed = True
        print(f"FAILED: {what}\n{done.stdout}{done.stderr}")

    def changed(self, name, change):
        program = Program(self.arguments.program)
        change(program)
        with open(self.path(name), "wb") as file:
            file.write(program.bytes)
        return self.path(name)

    def run(self):
        all_agree = r"program: (\d+) judged again: \1 agree, 0 refuted, 0 disagree, 0 not checked"
        self.audit(self.arguments.program, 0, all_agree, r"saxpy +baseline plain +meaning proved by .* code sampled by")
        subprocess.run(["strip", "-s", "-o", self.path("stripped"), self.arguments.program], check=True)
        self.audit(self.path("stripped"), 0, all_agree)
        self.audit(self.arguments.object, 0, all_agree)

        def forget_sections(program):
            program.bytes[40:48] = bytes(8)
            program.bytes[60:64] = bytes(4)
        self.audit(self.changed("nameless", forget_sections), 0, all_agree)

        def patch(program):
            at = program.code("saxpy", 0)
            program.bytes[at:at + len(NOTHING)] = NOTHING
        self.audit(self.changed("patched", patch), 2, r"saxpy +baseline plain .*refuted: code: ",
                   r"saxpy +baseline in pieces .*agrees", r"double +baseline plain .*agrees", "1 refuted, 0 disagree")

        def crash(program):
            at = program.code("saxpy", 0)
            program.bytes[at:at + len(CRASH)] = CRASH
        self.audit(self.changed("crashes", crash), 2, r"saxpy +baseline plain .*refuted: judging it ended by signal 4",
                   r"saxpy +baseline in pieces .*agrees", "1 refuted, 0 disagree")

        # A launch that calls other code than the record names, which is as good as it was.
        def redirect(program):
            record = program.record("saxpy")
            descriptor = program.place(program.follow(record + 24))
            plain = descriptor + 4 * 10
            assert program.place(program.follow(plain)) == program.code("saxpy", 0)
            distance, = struct.unpack_from("<i", program.bytes, plain)
            struct.pack_into("<i", program.bytes, plain, distance + 1)
        self.audit(self.changed("redirected", redirect), 2,
                   r"saxpy .*disagrees: a launch on baseline calls other code than its record names")

        # A claim that is more than can be found; a candidate that is not the source's.
        def claim(program):
            record = program.record("dot")
            at = program.bytes.index(b"interpreter", record)
            program.bytes[at - 9] = 4
        self.audit(self.changed("claims", claim), 2, r"dot .*disagrees: code is recorded as proved by interpreter")

        def other_candidate(program):
            at = program.bytes.index(b" mul ", program.record("dot"))
            program.bytes[at:at + 5] = b" add "
        self.audit(self.changed("other", other_candidate), 2, r"dot +baseline plain .*(refuted|disagrees): ")

        def damage(program):
            struct.pack_into("<I", program.bytes, program.record("dot") + 20, 1 << 30)
        self.audit(self.changed("damaged", damage), 3, "not checked: its record does not fit its length")

        def cut(program):
            del program.bytes[3000:]
        self.audit(self.changed("cut", cut), 1, "cut: error FRZ0503: ")
        self.without_programs()
        return 1 if self.failed else 0

    def without_programs(self):
        out = self.path("out")
        pick = os.path.join(self.arguments.kernels, "pick.frz")
        subprocess.run([self.arguments.stage0, "--out", out, "--no-programs", "--quiet", pick], check=True)
        subprocess.run([self.arguments.compiler, "-std=c++20", "-fPIC", "-shared", "-I", self.arguments.include,
                        os.path.join(out, "kernels.cpp"), "-o", self.path("k.so")], check=True)
        self.audit(self.path("k.so"), 3, "not checked: it carries no candidate: it was built with --no-programs")


def main():
    parser = argparse.ArgumentParser()
    for name in ["frazil", "stage0", "program", "object", "kernels", "scratch", "compiler", "include"]:
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    shutil.rmtree(arguments.scratch, ignore_errors=True)
    os.makedirs(arguments.scratch)
    os.environ["FRAZIL_STORE"] = os.path.join(arguments.scratch, "store")
    return Check(arguments).run()


if __name__ == "__main__":
    sys.exit(main())
