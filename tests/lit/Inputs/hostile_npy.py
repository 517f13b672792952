"""Hostile .npy files, one after the other, through `frazil kernel run`: hostile_npy.py FRAZIL FOLDER

Each must end with its sentence and its exit code; the good ones with the elements that were written.
"""
import os
import struct
import subprocess
import sys

KERNEL = """frz 1
func @copy(%x: in buffer<TYPE>, %y: buffer<TYPE>, %n: index) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %v = load %x, %i : TYPE
    store %y, %i, %v : TYPE
    yield
  }
  return
}
"""


def npy(header, data=struct.pack("<6f", 1, 2, 3, 4, 5, 6), version=(1, 0), length=None):
    header = header.encode("latin1")
    length = len(header) if length is None else length
    size = struct.pack("<H" if version[0] == 1 else "<I", length)
    return b"\x93NUMPY" + bytes(version) + size + header + data


def header(shape="(6,)", descr="'<f4'", order="False", extra=""):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {extra}}}\n"


GOOD = {
    "plain": npy(header()),
    "two dimensions": npy(header("(2, 3)")),
    "version 2": npy(header(), version=(2, 0)),
    "version 3": npy(header(), version=(3, 0)),
    "double quotes, other order": npy('{"shape":(3,2),"descr":"<f4","fortran_order":False}   \n'),
    "one dimension has both orders": npy(header(order="True")),
}
BAD = {
    "empty": (b"", "this is no .npy file"),
    "only a magic": (b"\x93NUMPY", "this is no .npy file"),
    "other magic": (b"\x92NUMPY\1\0" + b"\0" * 100, "this is no .npy file"),
    "version 9": (npy(header(), version=(9, 0)), "version 9.0 of the format is not known"),
    "version 0": (npy(header(), version=(0, 0)), "version 0.0 of the format is not known"),
    "version 1.1": (npy(header(), version=(1, 1)), "version 1.1 of the format is not known"),
    "cut in its elements": (npy(header())[:-1], "it ends early: shape (6) is announced, 23 bytes follow"),
    "cut in its header": (npy(header())[:40], "the file ends in its header"),
    "cut in its length": (npy(header(), version=(2, 0))[:10], "the file ends in its header"),
    "header length too large": (npy(header(), length=1000), "the file ends in its header"),
    "header length too small": (npy(header(), length=30), "its header"),
    "header length of gigabytes": (npy(header(), version=(2, 0), length=0xfffffff0), "longer than 5000 characters (--max-literal)"),
    "huge shape": (npy(header("(4611686018427387904,)")), "it ends early"),
    "dimension beyond 64 bits": (npy(header("(99999999999999999999,)")), "a dimension of more than 64 bits"),
    "product overflows": (npy(header("(4294967296, 4294967296)")), "it ends early"),
    "product overflows to 6": (npy(header("(3, 6148914691236517207, 2, 1)")), "it ends early"),
    "negative": (npy(header("(-6,)")), "a negative dimension"),
    "two numbers, no comma": (npy(header("(6 6)")), "where ',' or ')' should stand"),
    "no tuple": (npy(header("(6)")), "a number in brackets and no tuple"),
    "no brackets": (npy(header("6")), "where '(' should stand"),
    "nested": (npy(header("((2, 3),)")), "where a number should stand"),
    "deeply nested": (npy(header("(" * 2000 + ")" * 2000)), "where a number should stand"),
    "open": (npy(header("(6,")), "its header"),
    "hexadecimal": (npy(header("(0x6,)")), "where ',' or ')' should stand"),
    "leading zero": (npy(header("(06,)")), "where a number should stand"),
    "float": (npy(header("(6.0,)")), "where ',' or ')' should stand"),
    "shape in a string": (npy("{'descr': '<f4', 'fortran_order': False, 'x': \"'shape': (6,)\"}\n"), "'x', which is not known"),
    "shape in a key": (npy("{\"'shape': (6,)\": 1, 'descr': '<f4', 'fortran_order': False}\n"), "which is not known"),
    "shape behind the dictionary": (npy("{'descr': '<f4', 'fortran_order': False} 'shape': (6,)\n"), "where nothing more should stand"),
    "no shape": (npy("{'descr': '<f4', 'fortran_order': False}\n"), "its header has no 'shape'"),
    "no descr": (npy("{'fortran_order': False, 'shape': (6,)}\n"), "its header has no 'descr'"),
    "shape twice": (npy(header(extra="'shape': (1,)")), "its header has 'shape' twice"),
    "no dictionary": (npy("[]\n"), "where '{' should stand"),
    "escapes": (npy(header(descr="'<f\\x34'")), "where a plain string should stand"),
    "string without end": (npy("{'descr: (6,)}\n"), "where a plain string should stand"),
    "control characters": (npy(header(descr="'\x1b[31m'")), "it holds '\\x1b[31m'"),
    "big endian": (npy(header(descr="'>f4'")), "its elements are big-endian; save it with .astype('<f4')"),
    "other type": (npy(header("(3,)", descr="'<f8'")), "it holds '<f8', the parameter takes '<f4' (f32)"),
    "no byte order": (npy(header(descr="'f4'")), "it holds 'f4'"),
    "records": (npy(header(descr="[('x', '<f4')]")), "records of several fields"),
    "Fortran order": (npy(header("(2, 3)", order="True")), "it is in Fortran order"),
    "order is a number": (npy(header(order="0")), "where True or False should stand"),
    "garbage behind": (npy(header()) + b"garbage", "7 bytes follow behind its last element"),
    "fewer than there are": (npy(header("(5,)")), "4 bytes follow behind its last element"),
}
BOOLS = {
    "a bool of 2": (npy(header("(3,)", descr="'|b1'"), b"\0\1\2"), "an element is no value of its type"),
}


def run(frazil, folder, name, content, kind):
    path, kernel = os.path.join(folder, "x.npy"), os.path.join(folder, f"copy_{kind}.frz")
    with open(path, "wb") as file:
        file.write(content)
    with open(kernel, "w", encoding="ascii") as file:
        file.write(KERNEL.replace("TYPE", kind))
    result = subprocess.run([frazil, "kernel", "run", kernel, "--bind", f"x={path},y=zeros:6,n=3", "--target", "interp"],
                            capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


def main(frazil, folder):
    os.makedirs(folder, exist_ok=True)
    failures = 0
    for name, content in GOOD.items():
        code, text = run(frazil, folder, name, content, "f32")
        if code != 0 or "y = [1, 2, 3, 0, 0, 0]" not in text:
            failures += 1
            print(f"{name}: exit {code}: {text}")
    for kind, files in (("f32", BAD), ("bool", BOOLS)):
        for name, (content, sentence) in files.items():
            code, text = run(frazil, folder, name, content, kind)
            expected = 3 if "--max" in sentence else 1
            if code != expected or sentence not in text or "error FRZ" not in text:
                failures += 1
                print(f"{name}: exit {code}, expected {expected} and \"{sentence}\": {text}")
    print(f"{len(GOOD) + len(BAD) + len(BOOLS)} files, {failures} wrong")


main(*sys.argv[1:])
