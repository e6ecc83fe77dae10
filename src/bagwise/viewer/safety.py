"""Who may ask, and what the answers forbid: pages of other sites can neither read nor frame the viewer.

The server listens on this machine alone, but any page open in the browser may send requests to it, also under a
foreign name that was made to point here. So the name asked for must be this machine's, a page that asks must be the
viewer's own, and nothing can be changed: only GET and HEAD are answered.
"""

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

THIS_MACHINE = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)
METHODS = frozenset({"GET", "HEAD"})
OPENSEADRAGON_STYLE = "'sha256-9xTiqzfwFaL2SGb1rmr8gysEwVVjIvqWAgmZgqFqpEE='"  # the one that it writes itself
POLICY = "; ".join(
    [
        "default-src 'self'",
        f"style-src 'self' {OPENSEADRAGON_STYLE}",
        "img-src 'self' blob: data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
PROTECTION = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",  # the next viewer on this port may show other runs under the same addresses
}


class Guard:
    """Wraps the application: refuses strangers, and puts the protecting headers on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(PROTECTION)
            await send(message)

        refusal = _refusal(scope)
        answering = self.app if refusal is None else refusal
        await answering(scope, receive, send_protected)


def _refusal(scope: Scope) -> PlainTextResponse | None:
    """Why a request is not answered, or None."""
    headers = Headers(scope=scope)
    if scope["method"] not in METHODS:
        return PlainTextResponse("the viewer only reads: GET and HEAD", 405, {"Allow": "GET, HEAD"})
    if not is_this_machine(headers.get("host", "")):
        return PlainTextResponse("ask for 127.0.0.1 or localhost; other names are refused", 403)
    if not is_own_page(headers.get("origin"), headers.get("host", "")):
        return PlainTextResponse("pages of other sites may not read the viewer", 403)
    return None


def is_this_machine(host: str) -> bool:
    """Whether a Host header names this machine, at any port: a tunnel may lead from another one.

    >>> is_this_machine("localhost:8000"), is_this_machine("[::1]:80"), is_this_machine("evil.example:8000")
    (True, True, False)
    """
    return THIS_MACHINE.fullmatch(host) is not None


def is_own_page(origin: str | None, host: str) -> bool:
    """Whether a request comes from no page, or from the viewer's own.

    >>> is_own_page(None, "localhost:80"), is_own_page("http://localhost:81", "localhost:80")
    (True, False)
    """
    return origin is None or origin in (f"http://{host}", f"https://{host}")
