"""An MCP server on stdin and stdout: lets a model check, explain and compare skills as it writes.

It only reads, and needs nothing but Python and the `prowess` program. A message is a line.
"""

import json
import subprocess
import sys

HOSTS = ("prowess", "claude-code", "openclaw", "opencode", "omp", "codex", "spec")
_SECONDS = 60
_MOST_CHARACTERS = 30_000
_NO_METHOD, _BAD_PARAMS = -32601, -32602


def _describe(tool, description, **properties):
    required = [key for key in properties if key != "host"]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": tool, "description": description, "inputSchema": schema}


_HOST = {"type": "string", "enum": list(HOSTS), "description": "The agent; prowess if left out."}
_PATH = {"type": "string", "description": "A SKILL.md or the folder of a skill."}
_NAME = {"type": "string", "description": "The name of a skill."}
TOOLS = {
    "check_skill": _describe("check_skill", "Everything that is wrong with a skill.", path=_PATH),
    "explain_skill": _describe(
        "explain_skill", "Why a skill loads or does not, in one agent.", name=_NAME, host=_HOST
    ),
    "compare_hosts": _describe(
        "compare_hosts", "The skills here that agents treat differently, and why."
    ),
}


class Wrong(Exception):
    """Arguments that a tool cannot take."""


def build_command(tool, given):
    """The command line of a call; what the model says is never taken for an option."""
    if tool == "compare_hosts":
        return ["compare", "--only-different"]
    key = "path" if tool == "check_skill" else "name"
    value, host = given.get(key), given.get("host", HOSTS[0])
    if not isinstance(value, str) or not value.strip():
        raise Wrong(f"`{key}` is missing.")
    if host not in HOSTS:
        raise Wrong(f"`host` is one of {', '.join(HOSTS)}.")
    if tool == "check_skill":
        return ["validate", "--", value]
    return ["explain", f"--host={host}", "--", value]


def call_tool(tool, given):
    """The result of a call: what the program says, and whether that is an error."""
    try:
        done = subprocess.run(
            ["prowess", *build_command(tool, given)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
        )
    except Wrong as wrong:
        return make_result(str(wrong), is_error=True)
    except FileNotFoundError:
        return make_result("The program `prowess` is not on the PATH.", is_error=True)
    except subprocess.TimeoutExpired:
        return make_result(f"`prowess` took more than {_SECONDS} seconds.", is_error=True)
    text = done.stdout.decode("utf-8", "replace").strip()
    # That a skill has mistakes is the answer, not an error of the call.
    return make_result(text[:_MOST_CHARACTERS] or "Nothing to report.", is_error=False)


def make_result(text, *, is_error):
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def initialize(params):
    return {
        "protocolVersion": params.get("protocolVersion", "2025-06-18"),
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "prowess-skills", "version": "1"},
    }


def answer(message):
    """The answer to a request; None for a notification and for what is no message."""
    is_request = isinstance(message, dict) and "id" in message and "method" in message
    if not is_request:
        return None
    method, params = message["method"], message.get("params") or {}
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        return {**reply, "result": initialize(params)}
    if method == "ping":
        return {**reply, "result": {}}
    if method == "tools/list":
        return {**reply, "result": {"tools": list(TOOLS.values())}}
    if method != "tools/call":
        return {**reply, "error": {"code": _NO_METHOD, "message": f"There is no {method}."}}
    if params.get("name") not in TOOLS:
        return {**reply, "error": {"code": _BAD_PARAMS, "message": "There is no such tool."}}
    return {**reply, "result": call_tool(params["name"], params.get("arguments") or {})}


def main():
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            # Without an id there is nobody to answer.
            continue
        reply = answer(message)
        if reply is not None:
            print(json.dumps(reply), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
