"""The levels of the folders under src/, what each tool may include, and where third-party headers may be included.

This is the one table: check_layers.py compares it with every #include and with CMakeLists.txt.
"""

# A folder may include folders of a lower level, and itself. Folders of level 3 and the sub-folders of a
# group (frontends/words, targets/c, ...) never include each other.
LEVELS = {
    "base": 0,
    "embed": 1,
    "ir": 1,
    "exec": 2,
    "machines": 2,
    "frontends": 3,
    "optimize": 3,
    "targets": 3,
    "verify": 3,
    "profile": 3,
    "arguments": 3,
    "oracle": 3,
    "sources": 4,
    "registry": 4,
    "store": 4,
    "dispatch": 5,
    "engine": 6,
    "aot": 7,
    "runtime": 7,
    "audit": 8,
    "tensor": 8,
    "learn": 9,
    "frazil": 10,
}

# Folders whose sub-folders are libraries of their own.
GROUPS = {"machines", "frontends", "targets"}

# Sub-folders of a group that the named ones of its other sub-folders share (decision 0009).
# Tiles run what the ISA's lowering proved: a tier above it.
SHARED = {("targets", "llvm"): {("targets", "native"), ("targets", "cuda")}, ("targets", "isa"): {("targets", "tiles")}}

# Sub-folders that are libraries above the folder they lie in: they use it, internals included, and it never uses them.
ABOVE = {("verify", "smt"), ("verify", "tasm"), ("verify", "x86")}

# Random programs: for tests of every folder, for fuzzers and for tools that are tests. No library includes it.
FOR_TESTS = {"generator": {"base", "ir", "exec"}}

# Folders outside the levels: what they may include besides themselves. Nothing in src/ includes them.
SPECIAL = {"monitor": {"base"}}

# Tools stand above src/: folders (or sub-folders of groups) whose public headers each may include. Nothing in src/ includes a
# tool, and no tool another one's files. `support` is tests/support.
TOOLS = {
    "frazil": {"aot", "arguments", "audit", "base", "engine", "exec", "frazil", "frontends/circuits", "frontends/python", "ir", "machines/simt",
               "machines/tasm", "optimize", "oracle", "registry", "sources", "store", "targets", "verify"},
    "gpu": {"base", "engine", "exec", "frontends/python", "generator", "ir", "registry", "runtime", "support", "targets/cuda", "targets/native", "targets/wasm",
            "verify"},
    "manual": {"base", "ir", "machines"},
    "prelude": set(),
    "rules": {"ir", "verify"},
    "stage0": {"aot"},
    "worker": {"base", "engine", "ir", "targets/cuda", "targets/native", "verify"},
}
# Flags and JSON are the tools' business.
TOOLS_THIRD_PARTY = {"fmt", "CLI", "nlohmann"}

# Headers whose types only their own folder may make; tests may, to have something to play with.
MAKERS = {"verify/judge.h", "targets/tiles/tile_maker.h", "targets/tiles/tile_plan.h"}

# First part of a third-party header -> path prefixes that may include it. `test` stands for *_test.cpp
# and test_*.h, which are not installed.
# fmt is our <format>: libstdc++ 12 has none.
THIRD_PARTY = {
    "fmt": {""},
    "gtest": {"test"},
    "gmock": {"test"},
    "mpfr.h": {"test"},
    "gmp.h": {"test"},
    "llvm": {"targets/llvm/", "targets/native/", "targets/cuda/"},
    "llvm-c": {"targets/llvm/", "targets/native/", "targets/cuda/"},
    "Zydis": {"verify/x86/"},
    "z3++.h": {"verify/smt/"},
    "z3.h": {"verify/smt/"},
    "cuda.h": {"targets/cuda/"},
    "mpi.h": {"tensor/mpi/"},
    "wasmtime.h": set(),  # targets/wasm declares the few functions it uses itself
    "nlohmann": {"frontends/python/", "oracle/"},  # everywhere else JSON is the tools' business
    "frazil_stdlib.hpp": {"runtime/"},  # generated during the build (cmake/FrazilStdlib.cmake)
    "CLI": set(),  # and so are flags
}

# C and POSIX headers; C++ headers have no suffix and are always allowed.
SYSTEM_HEADERS = {
    "cpuid.h", "dirent.h", "dlfcn.h", "elf.h", "errno.h", "fcntl.h", "fenv.h", "immintrin.h", "link.h", "math.h", "netdb.h",
    "poll.h", "pthread.h", "sched.h", "signal.h", "spawn.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "ucontext.h",
    "time.h", "unistd.h",
}
SYSTEM_FOLDERS = {"sys", "linux", "netinet"}
