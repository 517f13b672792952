"""Generated files with each compiler of record, with all warnings, optimized and not; the program runs every time."""
import argparse
import os
import shutil
import subprocess
import sys

COMPILERS = ["clang++-22", "clang++", "g++-12", "g++"]
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def main():
    parser = argparse.ArgumentParser()
    for name in ["kernels", "name", "include", "program", "scratch"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--libraries", nargs="+", required=True)
    arguments = parser.parse_args()
    os.makedirs(arguments.scratch, exist_ok=True)
    # One for each program; a driver knows its language by the name that it is called by.
    compilers = {os.path.realpath(path): path for path in reversed([shutil.which(name) for name in COMPILERS]) if path}
    tried = 0
    for compiler in sorted(compilers.values()):
        for level in ["-O0", "-O2"]:
            output = os.path.join(arguments.scratch, f"program_{tried}")
            command = [compiler, *FLAGS, level, f"-I{arguments.include}", f"-I{arguments.kernels}", arguments.program,
                       os.path.join(arguments.kernels, arguments.name + ".cpp"), *arguments.libraries, "-lfmt",
                       "-lpthread", "-ldl", "-o", output]
            for step in (command, [output]):
                done = subprocess.run(step, capture_output=True, text=True)
                if done.returncode != 0:
                    print(" ".join(step), done.stdout, done.stderr, sep="\n")
                    return 1
            tried += 1
            print(f"{compiler} {level}: compiled and run")
    if tried < 4:
        print(f"only {tried} combinations were tried: a compiler is missing")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
