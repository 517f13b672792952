# Substitutions: %frazil the CLI, %root the project. Tools of LLVM 22 come first on the PATH. The store is the tests' own, and
# empty when they begin.
import os
import shutil

import lit.formats

config.name = "frazil"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["work"]
config.environment["PATH"] = "/usr/lib/llvm-22/bin:" + os.environ["PATH"]
config.environment["NO_COLOR"] = "1"
config.environment["FRAZIL_STORE"] = os.path.join(config.test_exec_root, "store")
shutil.rmtree(config.environment["FRAZIL_STORE"], ignore_errors=True)
config.substitutions.append(("%frazil", lit_config.params["frazil"]))
config.substitutions.append(("%root", lit_config.params["root"]))
