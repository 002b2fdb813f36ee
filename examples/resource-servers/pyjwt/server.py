import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt

ISSUER = os.environ["ISSUER"]
RESOURCE = os.environ["RESOURCE"]
keys = jwt.PyJWKClient(f"{ISSUER}/v2/oauth/jwks", timeout=5)


def verify(token: str) -> dict | None:
    """The claims of a token that passes all checks; None for any other token. Raises an error when the keys cannot be fetched."""
    try:
        # PyJWT does not look at typ.
        if jwt.get_unverified_header(token).get("typ") != "at+jwt":
            return None
        claims = jwt.decode(
            token,
            keys.get_signing_key_from_jwt(token),
            algorithms=["ES256"],
            issuer=ISSUER,
            audience=RESOURCE,
            options={"require": ["iss", "aud", "exp"]},
        )
        # A bound token needs a proof.
        return None if "cnf" in claims else claims
    except jwt.PyJWKClientConnectionError:
        raise
    except jwt.PyJWTError:
        return None


class Orders(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return self.answer(401, {"www-authenticate": "Bearer"})
        try:
            claims = verify(token)
        except jwt.PyJWKClientConnectionError:
            return self.answer(503, {"retry-after": "5"})
        if claims is None:
            return self.answer(401, {"www-authenticate": 'Bearer error="invalid_token"'})
        if "orders:read" not in claims.get("scope", "").split():
            return self.answer(403, {"www-authenticate": 'Bearer error="insufficient_scope", scope="orders:read"'})
        self.answer(200, {"content-type": "application/json"}, {"for": claims["sub"], "orders": 7})

    def answer(self, status: int, headers: dict, body: dict | None = None) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


ThreadingHTTPServer(("127.0.0.1", int(os.environ["MCP_PORT"])), Orders).serve_forever()
