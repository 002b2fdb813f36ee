import asyncio
import os

from fastmcp import Client
from fastmcp.client.auth import ClientCredentialsOAuthProvider

auth = ClientCredentialsOAuthProvider(
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    scopes=[os.environ["SCOPE"]],
    issuer=os.environ["ISSUER"],  # The secret is sent to this server alone.
)


async def main() -> None:
    async with Client(os.environ["RESOURCE"], auth=auth) as client:
        result = await client.call_tool("count", {})
        print(result.content[0].text)


asyncio.run(main())
