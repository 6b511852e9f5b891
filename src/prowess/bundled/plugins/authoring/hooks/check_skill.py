"""A hook: a SKILL.md that was written or edited is checked, and the model hears what is wrong."""

import json
import os
import subprocess
import sys

# What this status means to an agent: its error output goes to the model.
_TELL_THE_MODEL = 2


def main() -> int:
    call = json.load(sys.stdin)
    given = call.get("tool_input", {})
    path = given.get("file_path") or given.get("path") or ""
    if os.path.basename(path) != "SKILL.md":
        return 0
    try:
        checked = subprocess.run(
            ["prowess", "validate", os.path.join(call.get("cwd", "."), path)],
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        # Without the program on the path nothing can be checked here.
        return 0
    if checked.returncode == 0:
        return 0
    print(checked.stdout.strip(), file=sys.stderr)
    return _TELL_THE_MODEL


sys.exit(main())
