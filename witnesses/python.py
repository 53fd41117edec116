"""The official Python client (PyPI: mcp) over stdio and over HTTP: one form filled in by each, and its ways to fail."""

import asyncio
import base64
import os
import sys

from mcp import Client, StdioServerParameters

SITE, HTTP, BRIDGED = os.environ["SITE"], os.environ["HTTP"], os.environ["BRIDGED"]
passed = failed = 0


def check(name: str, holds: bool, why: object = "") -> None:
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"ok      {name}" if holds else f"FAILED  {name}: {str(why)[:300]}", flush=True)


def text(result) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


async def through(name: str, server) -> None:
    async with Client(server, read_timeout_seconds=60) as client:
        info = client.server_info
        check(f"{name}: connects ({client.protocol_version})", info is not None and info.name == "bridged", info)
        tools = (await client.list_tools()).tools
        check(f"{name}: every tool has a description", len(tools) >= 10 and all(t.description for t in tools), tools)
        opened = await client.call_tool("new_tab", {"url": f"{SITE}/form"})
        tab = opened.structured_content["tab_id"]
        filled = await client.call_tool("set_value", {"tab_id": tab, "target": "#who", "value": name})
        check(f"{name}: fills in a field", filled.structured_content["value"] == name, filled)
        clicked = await client.call_tool("click", {"tab_id": tab, "target": "text=Send"})
        check(f"{name}: clicks", not clicked.is_error, text(clicked))
        arrived = await client.call_tool("wait_for", {"tab_id": tab, "text": f"Dear {name}"})
        check(f"{name}: waits for what comes of it", not arrived.is_error, text(arrived))
        read = text(await client.call_tool("get_page_markdown", {"tab_id": tab, "full": True}))
        check(f"{name}: reads what came of it, marked as untrusted", f"Dear {name}" in read and "untrusted" in read, read)
        picture = await client.call_tool("screenshot", {"tab_id": tab})
        image = next((block for block in picture.content if block.type == "image"), None)
        check(f"{name}: takes a picture", image and base64.b64decode(image.data)[1:4] == b"PNG", picture)
        error = await client.call_tool("click", {"tab_id": tab, "target": "#nowhere", "timeout": 200})
        check(f"{name}: a failure is one, with its code", error.is_error and "ELEMENT_NOT_FOUND" in text(error), text(error))
        many = await asyncio.gather(*(client.call_tool("list_tabs", {}) for _ in range(8)))
        check(f"{name}: eight calls at once", all("/thanks" in text(result) for result in many))
        closed = await client.call_tool("close_tab", {"tab_id": tab})
        check(f"{name}: closes its tab", closed.structured_content["closed"] is True, closed)


async def main() -> None:
    ways = {
        "py-stdio": StdioServerParameters(command=BRIDGED, args=["mcp"], env=dict(os.environ)),
        "py-http": f"{HTTP}/mcp",
    }
    for name, server in ways.items():
        try:
            await through(name, server)
        except Exception as error:  # noqa: BLE001: whatever it is, it is the finding
            check(f"{name}: works", False, repr(error))


asyncio.run(asyncio.wait_for(main(), 100))
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
