"""The MCP Python SDK's client for a person: PERSON opens the link and answers where the browser is sent."""

import asyncio
import os
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
from storage import MemoryStorage

callback: dict[str, list[str]] = {}


async def open_link(link: str) -> None:
    async with httpx2.AsyncClient() as person:
        answer = await person.post(os.environ["PERSON"], content=link)
    callback.update(parse_qs(urlsplit(answer.headers["location"]).query))


async def wait_for_callback() -> AuthorizationCodeResult:
    return AuthorizationCodeResult(code=callback["code"][0], state=callback["state"][0], iss=callback["iss"][0])


async def main() -> None:
    provider = OAuthClientProvider(
        server_url=os.environ["RESOURCE"],
        client_metadata=OAuthClientMetadata(
            client_name="Python", redirect_uris=["http://localhost:51005/callback"], grant_types=["authorization_code", "refresh_token"]
        ),
        storage=MemoryStorage(),
        redirect_handler=open_link,
        callback_handler=wait_for_callback,
    )
    async with httpx2.AsyncClient(auth=provider, timeout=30) as http:
        async with streamable_http_client(os.environ["RESOURCE"], http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                print((await session.call_tool("count", {})).content[0].text)


asyncio.run(main())
