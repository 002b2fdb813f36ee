import os
from urllib.parse import urlsplit

from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider, require_scopes
from fastmcp.server.auth.providers.introspection import IntrospectionTokenVerifier

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
    # MCP clients request these scopes. Without this line the document has an empty list.
    scopes_supported=SCOPES,
)
mcp = FastMCP("Tasks", auth=auth)


# A tool without require_scopes is open to every token for this API.
@mcp.tool(auth=require_scopes("tasks:read"))
def count() -> str:
    """Counts the tasks."""
    return "7"


@mcp.tool(auth=require_scopes("tasks:write"))
def add(text: str) -> str:
    """Adds a task."""
    return f"added {text}"


mcp.run(transport="http", host="127.0.0.1", port=int(os.environ["MCP_PORT"]), path=address.path)
