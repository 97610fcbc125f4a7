"""Who uses a Jupyter server of the application hub, for `ServerApp.identity_provider_class` (Jupyter Server 2)."""

from urllib.parse import unquote

from jupyter_server.auth.identity import IdentityProvider, User


class HubVisitor(IdentityProvider):
    """The user whom the hub's proxy let in. It says so in `X-Swath-User`, which no client can send, and nothing else reaches the server."""

    @property
    def auth_enabled(self):
        return True

    @property
    def login_available(self):
        return False

    def get_user(self, handler):
        headers = handler.request.headers
        name = unquote(headers.get("X-Swath-User", ""))
        if name == "":
            return None
        # The proxy sends a token where the client had one. A browser has a cookie, and shows Jupyter's own value against other sites.
        handler._token_authenticated = headers.get("Authorization", "").lower().startswith("token ")
        return User(username=name, name=name, display_name=name, initials=name[:2].upper())
