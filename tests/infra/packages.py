"""What Debian's packages need and hold: the closure of dependencies that `apt-get install --no-install-recommends` brings to
a bare machine, and the package that a file belongs to. Known from apt's lists where there are any, else from dpkg's status."""

import functools
import os
import pathlib
import re
import shutil
import subprocess

STATUS = pathlib.Path("/var/lib/dpkg/status")
LISTS = pathlib.Path("/var/lib/apt/lists")
FIELDS = re.compile(r"^(Package|Depends|Pre-Depends|Provides|Priority|Essential): (.*)$", re.M)
# What debootstrap's minbase holds besides packages that are essential or of priority "required", and what README.md asks for.
BASE = ("apt", "git", "make", "ca-certificates")


def available():
    """Whether this machine's packages can be asked at all."""
    return shutil.which("dpkg-query") is not None and STATUS.exists()


def stanzas(text):
    """A dictionary of fields for each package of a text in the form of dpkg's status."""
    found = []
    for field, value in FIELDS.findall(text):
        if field == "Package":
            found.append({})
        if found:
            found[-1][field] = value
    return found


class Packages:
    def __init__(self, texts, whole=True):
        """`texts` in the order of trust: the first one that names a package decides. `whole`: they name all that there are."""
        self.known, self.providers, self.whole = {}, {}, whole
        for text in texts:
            for stanza in stanzas(text):
                if stanza["Package"] in self.known:
                    continue
                self.known[stanza["Package"]] = stanza
                for name in names(stanza.get("Provides", "")):
                    self.providers.setdefault(name[0], []).append(stanza["Package"])

    def base(self):
        return self.closure(BASE) | self.closure(
            name for name, stanza in self.known.items()
            if stanza.get("Priority") == "required" or stanza.get("Essential") == "yes")

    def closure(self, roots, have=frozenset()):
        """The packages of `roots` and all that they depend on. Of alternatives the one that is there counts, else the first."""
        have = set(have)
        waiting = [name for name in roots if name in self.known]
        have.update(waiting)
        while waiting:
            stanza = self.known[waiting.pop()]
            for alternatives in names(stanza.get("Pre-Depends", "")) + names(stanza.get("Depends", "")):
                real = [name for word in alternatives for name in self.real(word)]
                if real and not have.intersection(real):
                    have.add(real[0])
                    waiting.append(real[0])
        return have

    def real(self, name):
        return ([name] if name in self.known else []) + self.providers.get(name, [])


def names(field):
    """"a (>= 1) | b, c:any" as [["a", "b"], ["c"]]."""
    return [[re.split(r"[ (:\[]", word.strip(), maxsplit=1)[0] for word in part.split("|")]
            for part in field.split(",") if part.strip()]


@functools.cache
def here():
    """The packages that this machine knows."""
    apt = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, errors="replace", check=False) \
        if shutil.which("apt-cache") else None
    texts = [STATUS.read_text(errors="replace")]
    # Without lists dumpavail tells of installed packages only.
    if apt and apt.returncode == 0:
        texts.insert(0, apt.stdout)
    return Packages(texts, whole=any(LISTS.glob("*_Packages*")))


def steps(path):
    """A path, and what its links lead to: /usr/bin/awk, /etc/alternatives/awk, /usr/bin/mawk; each also as it was called
    before /bin and /lib became links into /usr."""
    found = []
    while path not in found and len(found) < 20:
        found.append(path)
        if not os.path.islink(path):
            break
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    found.append(os.path.realpath(path))
    return [name for path in found for name in ((path, path.removeprefix("/usr")) if path.startswith("/usr/") else (path,))]


def owners(paths):
    """The packages that hold each path (which may be a link to what they hold)."""
    wanted = {path: steps(path) for path in paths}
    told = subprocess.run(["dpkg-query", "-S", *sorted({step for all_steps in wanted.values() for step in all_steps})],
                          capture_output=True, text=True, check=False).stdout if wanted else ""
    holders = {}
    for line in told.splitlines():
        packages, _, path = line.rpartition(": ")
        if not packages.startswith("diversion "):
            holders.setdefault(path, set()).update(name.split(":")[0] for name in packages.split(", "))
    return {path: set().union(*(holders.get(step, set()) for step in all_steps)) for path, all_steps in wanted.items()}
