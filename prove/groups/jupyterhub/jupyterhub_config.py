import os

issuer, origin = os.environ["ISSUER"], os.environ["ORIGIN"]
c = get_config()  # noqa: F821

c.JupyterHub.bind_url = origin
c.JupyterHub.hub_port = int(os.environ["HUB_PORT"])
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{os.environ['PROXY_PORT']}"
c.ConfigurableHTTPProxy.command = os.environ["PROXY"].split(" ")
c.JupyterHub.redirect_to_server = False

c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.client_id = os.environ["CLIENT_ID"]
c.GenericOAuthenticator.client_secret = os.environ["CLIENT_SECRET"]
c.GenericOAuthenticator.oauth_callback_url = f"{origin}/hub/oauth_callback"
c.GenericOAuthenticator.authorize_url = f"{issuer}/v2/oauth/authorize"
c.GenericOAuthenticator.token_url = f"{issuer}/v2/oauth/token"
c.GenericOAuthenticator.userdata_url = f"{issuer}/v2/oauth/userinfo"
c.GenericOAuthenticator.scope = ["openid", "email", "groups"]
c.GenericOAuthenticator.username_claim = "email"
c.GenericOAuthenticator.enable_auth_state = True
c.GenericOAuthenticator.manage_groups = True
c.GenericOAuthenticator.auth_state_groups_key = "oauth_user.groups"
c.GenericOAuthenticator.allowed_groups = {"finance"}
c.GenericOAuthenticator.auth_refresh_age = 1
