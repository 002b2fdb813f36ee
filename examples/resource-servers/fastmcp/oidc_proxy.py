from fastmcp.server.auth.oidc_proxy import OIDCProxy

auth = OIDCProxy(
    config_url=f"{ISSUER}/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],  # grantor client create
    client_secret=os.environ["CLIENT_SECRET"],
    base_url=f"{address.scheme}://{address.netloc}",
    # Without a verifier OIDCProxy expects RS256, and answers every token with 401.
    token_verifier=IntrospectionTokenVerifier(
        introspection_url=f"{ISSUER}/v2/oauth/introspect",
        client_id=os.environ["API_ID"],
        client_secret=os.environ["API_SECRET"],
        audience=RESOURCE,
    ),
    valid_scopes=SCOPES,
)
