"""An API whose routes ask for the current user, and an MCP server with one tool, in one process."""

import os
from typing import Annotated

import jwt
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token

ISSUER = os.environ["ISSUER"]
ORIGIN = os.environ["ORIGIN"]
API, MCP = f"{ORIGIN}/orders", f"{ORIGIN}/mcp"
keys = jwt.PyJWKClient(f"{ISSUER}/v2/oauth/jwks", timeout=5)
bearer = HTTPBearer(auto_error=False)


def verify(token: str) -> dict:
    # PyJWT does not look at typ.
    if jwt.get_unverified_header(token).get("typ") != "at+jwt":
        raise jwt.InvalidTokenError
    claims = jwt.decode(
        token,
        keys.get_signing_key_from_jwt(token),
        algorithms=["ES256"],
        issuer=ISSUER,
        audience=API,
        options={"require": ["iss", "aud", "exp"]},
    )
    # A bound token needs a proof.
    if "cnf" in claims:
        raise jwt.InvalidTokenError
    return claims


def current_user(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> str:
    """The subject of a token for this API with the scope of its orders."""
    if credentials is None:
        raise HTTPException(401, headers={"WWW-Authenticate": "Bearer"})
    try:
        claims = verify(credentials.credentials)
    except jwt.PyJWKClientConnectionError as cause:
        raise HTTPException(503, headers={"Retry-After": "5"}) from cause
    except jwt.PyJWTError as cause:
        raise HTTPException(401, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'}) from cause
    if "orders:read" not in claims.get("scope", "").split():
        header = 'Bearer error="insufficient_scope", scope="orders:read"'
        raise HTTPException(403, headers={"WWW-Authenticate": header})
    return claims["sub"]


mcp = FastMCP(
    "Orders",
    auth=RemoteAuthProvider(
        token_verifier=JWTVerifier(
            jwks_uri=f"{ISSUER}/v2/oauth/jwks",
            issuer=ISSUER,
            audience=MCP,
            algorithm="ES256",
            required_scopes=["agent:orders"],
        ),
        # A str: AnyHttpUrl() adds a slash to an issuer without a path, and clients compare the issuer byte for byte.
        authorization_servers=[ISSUER],
        base_url=ORIGIN,
    ),
)


@mcp.tool
def count() -> str:
    """Counts the orders of the user."""
    return f"7 for {get_access_token().claims['sub']}"


server = mcp.http_app(path="/mcp")
app = FastAPI(lifespan=server.lifespan)


@app.get("/orders")
def orders(user: Annotated[str, Depends(current_user)]) -> dict:
    return {"for": user, "orders": 7}


app.mount("/", server)
