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
LOOP = b"\xeb\xfe"  # jmp to itself
# Of a descriptor's fields (src/embed/kernel.h).
FLAGS, PLAIN, COVERS, LENGTHS, ISA, GUARDED, APART, COVER = 4, 40, 84, 92, 108, 168, 172, 180


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

    def descriptor(self, name):
        return self.place(self.follow(self.record(name) + 24))

    def blob(self, name, field):
        """Where an artifact for another machine begins, and its size."""
        at = self.descriptor(name) + field
        return self.place(self.follow(at)), struct.unpack_from("<I", self.bytes, at + 4)[0]

    def forget_sections(self):
        self.bytes[40:48] = bytes(8)
        self.bytes[60:64] = bytes(4)


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
        self.audit(self.arguments.program, 0, all_agree, r"saxpy +baseline plain +meaning proved by .* code sampled by",
                   r"saxpy +isa +meaning proved by .* code proved by digest .* agrees")
        subprocess.run(["strip", "-s", "-o", self.path("stripped"), self.arguments.program], check=True)
        self.audit(self.path("stripped"), 0, all_agree)
        self.audit(self.arguments.object, 0, all_agree)

        self.audit(self.changed("nameless", Program.forget_sections), 0, all_agree)

        def patch(program):
            at = program.code("saxpy", 0)
            program.bytes[at:at + len(NOTHING)] = NOTHING
        self.audit(self.changed("patched", patch), 2, r"saxpy +baseline plain .*refuted: code: ",
                   r"saxpy +baseline in pieces .*agrees", r"double +baseline plain .*agrees", "1 refuted, 0 disagree")

        def crash(program):
            at = program.code("saxpy", 0)
            program.bytes[at:at + len(CRASH)] = CRASH
        self.audit(self.changed("crashes", crash), 2, r"saxpy +baseline plain .*refuted: judging it ended by signal 4",
                   r"saxpy +baseline in pieces .*agrees", r"saxpy +isa .*agrees", r"saxpy +wasm .*agrees",
                   "1 refuted, 0 disagree")

        def loop(program):
            at = program.code("saxpy", 0)
            program.bytes[at:at + len(LOOP)] = LOOP
        self.audit(self.changed("loops", loop), 3, r"saxpy +baseline plain .*not checked: it took longer than 4000 ms",
                   r"saxpy +baseline in pieces .*agrees", r"saxpy +isa .*agrees", flags=("--entry-ms", "4000"))

        # A launch that calls other code than the record names, which is as good as it was.
        def redirect(program):
            plain = program.descriptor("saxpy") + PLAIN
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
        self.audit(self.changed("damaged", damage), 3, "dot .*not checked: its record does not fit its length")

        def cut(program):
            del program.bytes[3000:]
        self.audit(self.changed("cut", cut), 1, "cut: error FRZ0503: ")
        self.without_programs()
        self.with_guard()
        self.without_native()
        return 1 if self.failed else 0

    def build(self, kernels, *flags):
        out = self.path("out")
        files = [os.path.join(self.arguments.kernels, f"{name}.frz") for name in kernels]
        subprocess.run([self.arguments.stage0, "--out", out, "--quiet", *flags, *files], check=True)
        subprocess.run([self.arguments.compiler, "-std=c++20", "-fPIC", "-shared", "-I", self.arguments.include,
                        os.path.join(out, "kernels.cpp"), "-o", self.path("k.so")], check=True)
        return self.path("k.so")

    def without_programs(self):
        self.audit(self.build(["pick"], "--no-programs"), 3,
                   "not checked: it carries no candidate: it was built with --no-programs", "program: 0 judged again: 0 agree")

    def with_guard(self):
        """A form under a guard is judged as such, and a launch tests what its record says."""
        before = self.arguments.program
        self.arguments.program = self.build(["where"])
        self.audit(self.arguments.program, 0, r"where +baseline plain +meaning proved by replay .*agrees",
                   r"where +baseline plain, guarded +meaning proved by passes .*agrees", "0 disagree, 0 not checked")
        for field in (APART, COVER):
            def forget(program):
                at = program.place(program.follow(program.descriptor("where") + GUARDED)) + field
                assert struct.unpack_from("<I", program.bytes, at + 4)[0] > 0
                program.bytes[at:at + 8] = bytes(8)
            self.audit(self.changed(f"guard{field}", forget), 2, r"where +baseline plain .*agrees",
                       r"where +baseline plain, guarded .*disagrees: its descriptor tests another guard than its record says")

        # The form for all arguments is the one under the guard, which nobody tests for it.
        def exchange(program):
            first = program.descriptor("where")
            other = program.place(program.follow(first + GUARDED))
            target = program.follow(other + PLAIN)
            struct.pack_into("<i", program.bytes, first + PLAIN, target - program.address(first + PLAIN))
        self.audit(self.changed("exchanged", exchange), 2,
                   r"where .*disagrees: a launch on baseline calls other code than its record names")
        self.arguments.program = before

    def without_native(self):
        """What is carried and not judged does not agree."""
        self.audit(self.build(["pick"], "--targets", "ptx"), 3, r"pick +ptx .*not checked: code: it has only PTX",
                   "program: 0 judged again: 0 agree, 0 refuted, 0 disagree, 1 not checked")
        # From here on it is what is changed.
        self.arguments.program = self.build(["pick", "double"], "--targets", "isa")
        self.audit(self.arguments.program, 0, r"pick +isa .*code proved by digest", "program: 2 judged again: 2 agree")

        def break_isa(program):
            at, size = program.blob("pick", ISA)
            program.bytes[at + size // 2] ^= 1
        self.audit(self.changed("isa", break_isa), 2, r"pick +isa .*disagrees: code: ", r"double +isa .*agrees",
                   "0 refuted, 1 disagree")
        for field, wrong in ((COVERS, "checks the lengths of buffers"), (LENGTHS, "checks the lengths of buffers"),
                             (FLAGS, "calls its code in another way")):
            def change(program):
                at = program.descriptor("pick") + field
                if field == FLAGS:
                    program.bytes[at + 2] ^= 1
                else:
                    assert struct.unpack_from("<I", program.bytes, at + 4)[0] > 0
                    program.bytes[at:at + 8] = bytes(8)
            self.audit(self.changed(f"descriptor{field}", change), 2, rf"pick .*disagrees: its descriptor {wrong}")
        self.hidden_records()

    def hidden_records(self):
        """A kernel is not passed over because its record is broken, with the names of sections or without."""
        for what, at, byte in (("magic", 0, 70), ("version", 16, 9), ("length", 23, 127), ("forms", 31, 127)):
            for names in (True, False):
                def hide(program):
                    program.bytes[program.record("pick") + at] = byte
                    if not names:
                        program.forget_sections()
                self.audit(self.changed(f"{what}{names}", hide), 3, r"pick .*not checked: its (record|descriptor) ",
                           r"double +isa .*agrees", "0 disagree, 1 not checked")


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
