import os
from urllib.parse import urlsplit

import httpx2
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

ISSUER = os.environ["ISSUER"]
RESOURCE = os.environ["RESOURCE"]


class Introspection:
    """Asks Grantor about each token. RFC 7662."""

    async def verify_token(self, token: str) -> AccessToken | None:
        async with httpx2.AsyncClient(timeout=5) as client:
            answer = await client.post(
                f"{ISSUER}/v2/oauth/introspect",
                auth=(os.environ["API_ID"], os.environ["API_SECRET"]),
                data={"token": token},
            )
        answer.raise_for_status()
        claims = answer.json()
        # A bound token needs a proof.
        if not claims["active"] or "cnf" in claims:
            return None
        audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=claims.get("scope", "").split(),
            expires_at=claims["exp"],
            resource=RESOURCE if RESOURCE in audience else None,
            subject=claims["sub"],
        )


mcp = MCPServer(
    "Orders",
    token_verifier=Introspection(),
    auth=AuthSettings(
        # Strings: AuthSettings keeps them as they are. AnyHttpUrl(ISSUER) would add a slash.
        issuer_url=ISSUER,
        resource_server_url=RESOURCE,
        validate_token_resource=True,
        # Without required_scopes the document names no scopes, so clients get those that the API has by default.
        # With it they would get the named ones alone, and each request would need all of them.
    ),
)


def require(scope: str) -> None:
    """Every tool calls this: a token for the API says only that a client may connect."""
    token = get_access_token()
    if token is None or scope not in token.scopes:
        raise ToolError(f"This needs the scope {scope}.")


@mcp.tool()
def count() -> str:
    """Counts the orders."""
    require("orders:read")
    return "7"


@mcp.tool()
def add(text: str) -> str:
    """Adds an order."""
    require("orders:write")
    return f"added {text}"


mcp.run(
    transport="streamable-http",
    host="127.0.0.1",
    port=int(os.environ["MCP_PORT"]),
    streamable_http_path=urlsplit(RESOURCE).path,
)
