import json
import os
from urllib.parse import urlsplit

from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.introspection import IntrospectionTokenVerifier
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

ISSUER = os.environ["ISSUER"]  # https://auth.example.com, without a slash at the end
RESOURCE = os.environ["RESOURCE"]  # https://mcp.example.com/mcp, as declared: grantor api create --resource …
SCOPES = ["tasks:read", "tasks:write"]
address = urlsplit(RESOURCE)

auth = RemoteAuthProvider(
    token_verifier=IntrospectionTokenVerifier(
        introspection_url=f"{ISSUER}/v2/oauth/introspect",
        client_id=os.environ["API_ID"],  # grantor api create-credentials <resource>
        client_secret=os.environ["API_SECRET"],
        audience=RESOURCE,
    ),
    # A str, although the type hint says AnyHttpUrl: AnyHttpUrl() adds a slash to an issuer without a path, and
    # clients compare the issuer byte for byte.
    authorization_servers=[ISSUER],
    base_url=f"{address.scheme}://{address.netloc}",
    # Clients that ignore the scope of a 401 request these. Without this line the document has an empty list.
    scopes_supported=SCOPES,
    # The least that a first call needs: the scope of a 401.
    challenge_scopes=["tasks:read"],
)
mcp = FastMCP("Tasks", auth=auth)
DOCUMENT = f"{address.scheme}://{address.netloc}/.well-known/oauth-protected-resource{address.path}"
required: dict[str, list[str]] = {}


def tool(scope: str):
    """Adds a tool that requires a scope. All tools are listed, which FastMCP's require_scopes would prevent."""

    def add_tool(function):
        required[function.__name__] = [scope]
        return mcp.tool(function)

    return add_tool


class ScopeChallenge:
    """Answers 403 to the call of a tool whose scope the token lacks, so that the client asks the user for it."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        user = scope.get("user")
        if scope["type"] != "http" or scope["method"] != "POST" or not getattr(user, "is_authenticated", False):
            return await self.app(scope, receive, send)
        body = await Request(scope, receive).body()
        # A name that is not known, as that of a tool that was added in another way, requires all scopes.
        needed = {scope for name in called(body) for scope in required.get(name, SCOPES)}
        missing = sorted(needed - set(user.scopes))
        if missing:
            error = 'error="insufficient_scope", error_description="The tool needs more access"'
            header = f'Bearer {error}, scope="{" ".join(missing)}", resource_metadata="{DOCUMENT}"'
            return await Response(status_code=403, headers={"www-authenticate": header})(scope, receive, send)
        parts = [{"type": "http.request", "body": body}]

        async def replay():
            return parts.pop() if parts else await receive()

        await self.app(scope, replay, send)


def called(body: bytes) -> list[str]:
    """The tools that a message calls. FastMCP refuses what is no JSON."""
    try:
        message = json.loads(body)
    except ValueError:
        return []
    messages = message if isinstance(message, list) else [message]
    calls = [one for one in messages if isinstance(one, dict) and one.get("method") == "tools/call"]
    return [str((call.get("params") or {}).get("name")) for call in calls]


@tool("tasks:read")
def count() -> str:
    """Counts the tasks."""
    return "7"


@tool("tasks:write")
def add(text: str) -> str:
    """Adds a task."""
    return f"added {text}"


mcp.run(
    transport="http",
    host="127.0.0.1",
    port=int(os.environ["MCP_PORT"]),
    path=address.path,
    middleware=[Middleware(ScopeChallenge)],
)
