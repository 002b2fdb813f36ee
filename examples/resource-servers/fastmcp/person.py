"""FastMCP's client as it is. BROWSER acts as the person's browser."""

import asyncio
import os

from fastmcp import Client


async def main() -> None:
    async with Client(os.environ["RESOURCE"], auth="oauth") as client:
        result = await client.call_tool("count", {})
        print(result.content[0].text)


asyncio.run(main())
