"""Name the file that an issue is about."""

import sys

print(f"issue {sys.argv[1]}: src/tides.py")
