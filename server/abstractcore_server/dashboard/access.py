"""`OneTimeAccess`: lets in the first browser that opens the address which `abstractcore dashboard` prints."""

from __future__ import annotations

import hmac
import secrets

from abstractcore.errors import AuthenticationError
from abstractcore.schema import ModelCall, WireResponse

from ..access.admission import CallLease, Grant, NoCallLease, credential_of, digest_of
from ..context import RequestContext
from ..requests import RequestHead

SESSION_PATH = "/dashboard/api/session"
_USED = "this address was opened before: use the tab that it was opened in, or start `abstractcore dashboard` again"


class OneTimeAccess:
    """Takes `token` once, at `SESSION_PATH`, in exchange for a key that is valid until the process ends."""

    is_open = False

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)
        self._key = secrets.token_urlsafe(32)
        self._is_used = False

    async def admit(self, request: RequestHead) -> Grant:
        """Returns a grant for the key, or once for the token; raises `AuthenticationError` for any other."""
        digest = digest_of(credential_of(request))
        if request.path != SESSION_PATH:
            if not hmac.compare_digest(digest, digest_of(self._key)):
                raise AuthenticationError("this key is not valid here")
            return Grant()
        if not hmac.compare_digest(digest, digest_of(self.token)):
            raise AuthenticationError("this token is not valid here")
        if self._is_used:
            raise AuthenticationError(_USED)
        self._is_used = True
        return Grant()

    async def begin(self, grant: Grant, call: ModelCall) -> CallLease:
        """Lets every call in: the dashboard makes none."""
        return NoCallLease()

    async def open_session(self, context: RequestContext) -> WireResponse:
        """Returns the key in exchange for the token."""
        return context.answer({"key": self._key})
