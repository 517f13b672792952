#!/usr/bin/env python3
"""scripts/setup.sh on machines that lack something, played with stand-ins for apt-get, dpkg, pip and sudo.

It must install only what is missing and fail with one sentence.
"""

import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETUP = ROOT / "scripts/setup.sh"
# What the script itself uses of any Debian; everything else must be provided by the test.
BASICS = "awk bash cat chmod cut df dirname echo env grep head mkdir mv rm sha256sum tr uname".split()

DPKG = """#!/bin/bash
for name in "${@:3}"; do
  if ! grep -qx "$name" "$STUBS/absent" 2>/dev/null; then echo "installed $name"; fi
done
"""
APT = """#!/bin/bash
echo "apt-get $*" >>"$STUBS/calls"
action=; for word in "$@"; do case $word in install|update) action=$word; break;; esac; done
if [[ -f $STUBS/$action.fails ]]; then cat "$STUBS/$action.fails"; [[ $action == update ]] || rm "$STUBS/$action.fails"; exit 100; fi
if [[ $action == install ]]; then : >"$STUBS/absent"; echo "Setting up wabt (1.0)"; fi
"""
PYTHON = """#!/bin/bash
echo "python3 $*" >>"$STUBS/calls"
if [[ $* == *--version* ]]; then exit 0; fi
if [[ -f $STUBS/pip.fails ]]; then echo "ERROR: no matching distribution"; exit 1; fi
while [[ $1 != -d ]]; do shift; done
echo junk >"$2/wasmtime-50.0.1-py3-none-manylinux1_x86_64.whl"
"""


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.stubs = pathlib.Path(folder.name)
        self.cache = self.stubs / "cache"
        (self.stubs / "bin").mkdir()
        for name in BASICS:
            (self.stubs / "bin" / name).symlink_to(shutil.which(name))
        self.command("dpkg-query", DPKG)
        self.command("apt-get", APT)
        self.command("python3", PYTHON)
        self.command("node", "#!/bin/bash\n")
        self.command("id", "#!/bin/bash\necho 0\n")
        self.have_wasmtime()

    def command(self, name, text):
        file = self.stubs / "bin" / name
        file.write_text(text)
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    def have_wasmtime(self):
        (self.cache / "wasmtime").mkdir(parents=True)
        (self.cache / "wasmtime/libwasmtime.so").write_text("")
        (self.cache / "wasmtime/VERSION").write_text("50.0.1\n")

    def absent(self, *packages):
        (self.stubs / "absent").write_text("".join(f"{name}\n" for name in packages))

    def calls(self):
        file = self.stubs / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def run_setup(self, **extra):
        environment = {
            "PATH": str(self.stubs / "bin"), "STUBS": str(self.stubs),
            "FRAZIL_CACHE_DIR": str(self.cache), "FRAZIL_MIN_FREE_MB": "1", **extra,
        }
        return subprocess.run(
            [shutil.which("bash"), SETUP], env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60,
        )

    def assert_fails_with(self, sentence, **extra):
        result = self.run_setup(**extra)
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(sentence, result.stderr)

    def test_nothing_missing_is_silent_and_fast(self):
        times = []
        for _ in range(5):
            start = time.monotonic()
            result = self.run_setup()
            times.append(time.monotonic() - start)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertLess(min(times), 0.3)
        self.assertEqual(self.calls(), [])

    def test_installs_only_what_is_missing(self):
        self.absent("wabt", "ccache")
        result = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.calls()), 1)
        self.assertTrue(self.calls()[0].endswith("install -y --no-install-recommends ccache wabt"))
        self.assertIn("installing what is missing (2 packages): ccache wabt", result.stdout)

    def test_refreshes_the_lists_only_if_needed(self):
        self.absent("wabt")
        (self.stubs / "install.fails").write_text("E: Unable to locate package wabt\n")
        self.assertEqual(self.run_setup().returncode, 0)
        actions = [word for line in self.calls() for word in line.split() if word in ("install", "update")]
        self.assertEqual(actions, ["install", "update", "install"])

    def test_any_node_will_do(self):
        self.absent("nodejs")
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual(self.calls(), [])
        (self.stubs / "bin/node").unlink()
        self.run_setup()
        self.assertTrue(self.calls()[0].endswith(" nodejs"))

    def test_rust_is_asked_for_once_and_can_be_done_without(self):
        self.absent("cargo-web")
        (self.stubs / "install.fails").write_text("E: Unable to locate package cargo-web\n")
        (self.stubs / "update.fails").write_text("W: Failed to fetch x  Could not resolve 'x'\n")
        result = self.run_setup()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("Rust is missing", result.stdout)
        self.assertIn("no network", (self.cache / "no-rust").read_text())
        asked = len(self.calls())
        self.assertEqual(self.run_setup().stdout, "")
        self.assertEqual(len(self.calls()), asked)
        (self.cache / "no-rust").unlink()
        (self.stubs / "update.fails").unlink()
        self.run_setup()
        self.assertTrue(self.calls()[-1].endswith(" cargo-web rustc-web"))

    def test_any_cargo_will_do(self):
        self.absent("cargo-web")
        self.command("cargo", "#!/bin/bash\n")
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual(self.calls(), [])

    def test_no_network(self):
        self.absent("wabt")
        (self.stubs / "install.fails").write_text("E: Unable to locate package wabt\n")
        (self.stubs / "update.fails").write_text("W: Failed to fetch x  Could not resolve 'x'\n")
        self.assert_fails_with("no network")

    def test_disk_becomes_full(self):
        self.absent("wabt")
        (self.stubs / "install.fails").write_text("E: stale\n")
        (self.stubs / "update.fails").write_text("E: Write error - write (28: No space left on device)\n")
        self.assert_fails_with("the disk became full")

    def test_no_apt(self):
        self.absent("wabt")
        (self.stubs / "bin/apt-get").unlink()
        self.assert_fails_with("no apt-get")

    def test_not_debian(self):
        (self.stubs / "bin/dpkg-query").unlink()
        self.assert_fails_with("not Debian")

    def test_no_rights(self):
        self.absent("wabt", "cmake")
        self.command("id", "#!/bin/bash\necho 1000\n")
        self.assert_fails_with("needs root or sudo; as root, run: apt-get install cmake wabt")
        self.command("sudo", "#!/bin/bash\nexit 1\n")
        self.assert_fails_with("sudo refused")
        self.assertEqual(self.calls(), [])

    def test_sudo_is_used(self):
        self.absent("wabt")
        self.command("id", "#!/bin/bash\necho 1000\n")
        self.command("sudo", '#!/bin/bash\n[[ $1 == -n ]] && shift\n"$@"\n')
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual(len(self.calls()), 1)

    def test_too_little_space(self):
        self.absent("wabt")
        self.assert_fails_with("too little disk space", FRAZIL_MIN_FREE_MB="1000000000")
        self.assertEqual(self.calls(), [])

    def test_wasmtime_with_another_digest_is_refused(self):
        shutil.rmtree(self.cache)
        self.assert_fails_with("not the pinned file")
        self.assertEqual([file.name for file in (self.cache / "wasmtime").iterdir()], [])

    def test_wasmtime_without_network(self):
        shutil.rmtree(self.cache)
        (self.stubs / "pip.fails").write_text("")
        self.assert_fails_with("could not be downloaded with pip")

    def test_skip(self):
        (self.stubs / "bin/dpkg-query").unlink()
        self.assertEqual(self.run_setup(SKIP_SETUP="1").returncode, 0)


if __name__ == "__main__":
    unittest.main()
