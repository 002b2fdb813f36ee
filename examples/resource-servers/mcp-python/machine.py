import asyncio
import os

import httpx2
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from storage import MemoryStorage  # your own, with the four methods of mcp.client.auth.TokenStorage

RESOURCE = os.environ["RESOURCE"]


async def main() -> None:
    provider = ClientCredentialsOAuthProvider(
        server_url=RESOURCE,
        storage=MemoryStorage(),
        client_id=os.environ["CLIENT_ID"],
        client_secret=os.environ["CLIENT_SECRET"],
        token_endpoint_auth_method="client_secret_basic",  # as the client was registered
        issuer=os.environ["ISSUER"],  # the secret is sent to this server alone
    )
    async with (
        httpx2.AsyncClient(auth=provider, timeout=30) as http,
        streamable_http_client(RESOURCE, http_client=http) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        result = await session.call_tool("count", {})
        print(result.content[0].text)


asyncio.run(main())
