"""Protection of the viewer: other websites can neither read nor embed it.

The server listens on this machine only, but any page that is open in the browser can send requests to it, even under a
foreign host name that resolves to this machine (DNS rebinding). Therefore the Host header must name this machine, the
Origin header, if there is one, must be the viewer itself, and only GET and HEAD are allowed, so nothing can be changed.
"""

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)
METHODS = frozenset({"GET", "HEAD"})
OPENSEADRAGON_STYLE = "'sha256-9xTiqzfwFaL2SGb1rmr8gysEwVVjIvqWAgmZgqFqpEE='"  # inline style that OpenSeadragon adds
CONTENT_SECURITY_POLICY = "; ".join(
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
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",  # another viewer on this port may serve other runs under the same URLs
}


class RequestGuard:
    """ASGI middleware that rejects foreign requests and adds security headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        rejection = _reject_request(scope)
        await (self.app if rejection is None else rejection)(scope, receive, send_protected)


def _reject_request(scope: Scope) -> PlainTextResponse | None:
    """Return the response to a request that is not allowed, or None if it is."""
    headers = Headers(scope=scope)
    if scope["method"] not in METHODS:
        return PlainTextResponse("the viewer allows only GET and HEAD", 405, {"Allow": "GET, HEAD"})
    if not is_local_host(headers.get("host", "")):
        return PlainTextResponse("use the host name 127.0.0.1 or localhost; other host names are rejected", 403)
    if not is_own_origin(headers.get("origin"), headers.get("host", "")):
        return PlainTextResponse("requests from other websites are rejected", 403)
    return None


def is_local_host(host: str) -> bool:
    """Return whether a Host header names this machine; any port is accepted, because an SSH tunnel may use another.

    >>> is_local_host("localhost:8000"), is_local_host("[::1]:80"), is_local_host("evil.example:8000")
    (True, True, False)
    """
    return LOCAL_HOST.fullmatch(host) is not None


def is_own_origin(origin: str | None, host: str) -> bool:
    """Return whether a request has no Origin header, or the origin of the viewer itself.

    >>> is_own_origin(None, "localhost:80"), is_own_origin("http://localhost:81", "localhost:80")
    (True, False)
    """
    return origin is None or origin in (f"http://{host}", f"https://{host}")
