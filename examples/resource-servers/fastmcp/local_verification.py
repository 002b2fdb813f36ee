from fastmcp.server.auth.providers.jwt import JWTVerifier

token_verifier = JWTVerifier(
    jwks_uri=f"{ISSUER}/v2/oauth/jwks",
    issuer=ISSUER,
    audience=RESOURCE,
    algorithm="ES256",  # Without this line FastMCP expects RS256 and answers every token with 401.
)
