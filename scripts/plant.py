"""Does to a store what an attacker or a bad disk would: plant.py STORE corrupt|forge|code

corrupt  flips one byte of every content.
forge    changes the contents and makes every digest and every record right again, as anybody who can write to the
         folder can; only the installation's seal cannot be made, because its key is not known.
code     forges code alone: what each form calls returns at once.
"""
import hashlib
import pathlib
import struct
import sys

HEADER = 56  # magic 8, schema 4, kind 4, length 8, digest 32


def framed(header, payload):
    length = len(payload).to_bytes(8, "little")
    return header[:16] + length + hashlib.sha256(payload).digest() + payload


def contents(store):
    return sorted(path for path in (store / "cas").rglob("*") if path.is_file())


def corrupt(store):
    for path in contents(store):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0x40
        path.write_bytes(data)


def flipped(sealed):
    payload = bytearray(sealed)
    payload[len(payload) // 2] ^= 0x40
    return bytes(payload)


def without_work(sealed):
    """The form with other code at its entry. Its fields: src/verify/seal.cpp; an image's: src/exec/native/native_code.cpp."""
    at = 8 + 4 + 4 + 4 + 64 + 8
    for _ in range(11):  # texts, from the source's digest to the toolchain; the next one is the image
        at += 8 + struct.unpack_from("<Q", sealed, at)[0]
    size = struct.unpack_from("<Q", sealed, at)[0]
    at += 8
    image = bytearray(sealed[at:at + size - 32])  # without its digest
    entry, _, length = struct.unpack_from("<IIQ", image, 16)  # after magic, version, level and flags
    nothing = b"\x31\xc0\xc3"  # xor eax, eax; ret: no trap, and nothing was done
    assert entry + len(nothing) <= length
    image[40 + entry:40 + entry + len(nothing)] = nothing
    return sealed[:at] + bytes(image) + hashlib.sha256(image).digest() + sealed[at + size:]


def forge(store, change=flipped):
    renamed = {}
    for path in contents(store):
        data = path.read_bytes()
        payload = change(data[HEADER:])
        new = framed(data, payload)
        digest = hashlib.sha256(payload).hexdigest()
        renamed[path.name.encode()] = digest.encode()
        place = store / "cas" / digest[:2]
        place.mkdir(mode=0o700, exist_ok=True)
        (place / digest).write_bytes(new)
        path.unlink()
    for path in sorted(path for path in (store / "ac").rglob("*") if path.is_file()):
        data = path.read_bytes()
        payload = data[HEADER:]
        for old, new in renamed.items():
            payload = payload.replace(old, new)
        path.write_bytes(framed(data, payload))


if __name__ == "__main__":
    deeds = {"corrupt": corrupt, "forge": forge, "code": lambda store: forge(store, without_work)}
    deeds[sys.argv[2]](pathlib.Path(sys.argv[1]))
