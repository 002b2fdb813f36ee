from mcp.shared.auth import OAuthClientInformationFull, OAuthToken


class MemoryStorage:
    """Keeps tokens and the registration for as long as the process runs."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client: OAuthClientInformationFull) -> None:
        self.client = client
