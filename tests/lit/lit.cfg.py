# Substitutions: %frazil the CLI, %root the project. Tools of LLVM 22 come first on the PATH.
import os

import lit.formats

config.name = "frazil"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["work"]
config.environment["PATH"] = "/usr/lib/llvm-22/bin:" + os.environ["PATH"]
config.environment["NO_COLOR"] = "1"
config.substitutions.append(("%frazil", lit_config.params["frazil"]))
config.substitutions.append(("%root", lit_config.params["root"]))
