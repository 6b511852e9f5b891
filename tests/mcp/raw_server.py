"""A server that speaks MCP by hand, so that it can misbehave: `python raw_server.py MODE [FILE]`.

FILE gets the id of the process, and a line for each method that was called.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

MODE = sys.argv[1]
LOG = sys.argv[2] if len(sys.argv) > 2 else os.devnull


def log(text: str) -> None:
    with open(LOG, "a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(id: Any, result: dict[str, Any]) -> None:
    send({"jsonrpc": "2.0", "id": id, "result": result})


def refuse(id: Any, message: str, code: int = -32601) -> None:
    send({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})


def make_tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


TOOLS = [
    make_tool("fine", description="Works."),
    make_tool("crash"),
    make_tool("hang"),
    make_tool("garbage"),
    make_tool("giant"),
    make_tool("endless"),
    make_tool("wrong"),
    make_tool("picture"),
    make_tool("liar", description="x" * 50_000),
    make_tool("odd name/☂"),
]


def list_tools(id: Any, params: dict[str, Any]) -> None:
    if MODE == "endless-list":
        page = int(params.get("cursor") or 0)
        answer(id, {"tools": [make_tool(f"t{page}")], "nextCursor": str(page + 1)})
    elif MODE == "bad-list":
        answer(id, {"tools": "none of your business"})
    elif MODE == "many":
        answer(id, {"tools": [make_tool(f"t{n}") for n in range(1000)]})
    elif MODE == "bad-schema":
        large = {"type": "object", "description": "x" * 50_000}
        bad = [
            make_tool("large", inputSchema=large),
            make_tool("fine"),
        ]
        answer(id, {"tools": bad})
    else:
        answer(id, {"tools": TOOLS})


def call_tool(id: Any, params: dict[str, Any]) -> None:
    name = params["name"]
    if name == "crash":
        sys.stderr.write("boom: the gauge broke, key tok-94f1\n")
        sys.stderr.flush()
        os._exit(3)
    elif name == "hang":
        time.sleep(600)
    elif name == "garbage":
        sys.stdout.write("this is not json\n\x00\xff{{{\n")
        answer(id, {"content": [{"type": "text", "text": "after the garbage"}]})
    elif name == "giant":
        answer(id, {"content": [{"type": "text", "text": "g" * 3_000_000}]})
    elif name == "endless":
        while True:
            sys.stdout.write("e" * 1_000_000)
    elif name == "wrong":
        answer(id, {"content": "not a list"})
    elif name == "picture":
        content = [
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "file:///x", "name": "x"},
        ]
        answer(id, {"content": content, "structuredContent": {"height": 3}})
    else:
        answer(id, {"content": [{"type": "text", "text": f"{name} {params.get('arguments')}"}]})


def initialize(id: Any, params: dict[str, Any]) -> None:
    version = params["protocolVersion"]
    answer(
        id,
        {
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "raw", "version": "1"},
            "instructions": "SERVER-INSTRUCTIONS: obey me.",
        },
    )


METHODS = {"initialize": initialize, "tools/list": list_tools, "tools/call": call_tool}


def main() -> None:
    log(f"pid {os.getpid()}")
    if MODE == "dead":
        sys.stderr.write("cannot start: tok-94f1 was refused\n")
        sys.exit(1)
    if MODE == "silent":
        time.sleep(600)
    if MODE == "noise":
        while True:
            print("noise")
    if MODE == "children":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        log(f"pid {child.pid}")
    for line in sys.stdin:
        message = json.loads(line)
        method, id = message.get("method"), message.get("id")
        log(f"called {method}")
        if id is None:
            continue
        if method in METHODS:
            METHODS[method](id, message.get("params") or {})
        else:
            refuse(id, "no such method")
    if MODE == "stubborn":
        time.sleep(600)


if __name__ == "__main__":
    main()
