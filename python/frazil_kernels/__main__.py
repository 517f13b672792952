import sys

from .tool import main

sys.exit(main(sys.argv[1:]))
