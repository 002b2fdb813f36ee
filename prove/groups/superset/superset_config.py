import os

from flask_appbuilder.security.manager import AUTH_OAUTH
from superset.security import SupersetSecurityManager

SECRET_KEY = os.environ["SECRET_KEY"]
SQLALCHEMY_DATABASE_URI = f"sqlite:///{os.environ['DATABASE']}"
TALISMAN_ENABLED = False
WTF_CSRF_ENABLED = False

AUTH_TYPE = AUTH_OAUTH
AUTH_USER_REGISTRATION = True
AUTH_ROLES_SYNC_AT_LOGIN = True
AUTH_ROLES_MAPPING = {"finance": ["Alpha"], "dev": ["Gamma"]}
OAUTH_PROVIDERS = [
    {
        "name": "grantor",
        "token_key": "access_token",
        "remote_app": {
            "client_id": os.environ["CLIENT_ID"],
            "client_secret": os.environ["CLIENT_SECRET"],
            "server_metadata_url": f"{os.environ['ISSUER']}/.well-known/openid-configuration",
            "client_kwargs": {"scope": "openid profile email groups", "code_challenge_method": "S256"},
        },
    }
]


class GroupSecurityManager(SupersetSecurityManager):
    def oauth_user_info(self, provider, response=None):
        user = self.appbuilder.sm.oauth_remotes[provider].userinfo(token=response)
        return {
            "username": user["sub"],
            "email": user["email"],
            "first_name": user.get("name", ""),
            "last_name": "",
            "role_keys": user.get("groups", []),
        }


CUSTOM_SECURITY_MANAGER = GroupSecurityManager
