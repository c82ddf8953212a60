"""Converts a WSGI environ to the parts of a frame."""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus
from typing import Any, NamedTuple

from ._frames import joined_head


class WsgiRequest(NamedTuple):
    """The parts of a request without its body, which is read on Node's request."""

    head: bytes
    root: bytes
    path: bytes
    raw: bytes | None
    query: bytes
    input: Any
    #: Bytes of the body that are still unread. None if only the input's end marks its end.
    left: int | None
    #: The client waits for an invitation before it sends the body.
    holds_back: bool
    #: The request is HTTP/1.1.
    is_http_1_1: bool
    #: The client's socket, if the server provides it.
    client: Any


def request_of(environ: dict[str, Any]) -> WsgiRequest | None:
    """None for a request that a server should have rejected."""
    parts = [
        environ["REQUEST_METHOD"],
        environ.get("wsgi.url_scheme", "http"),
        environ.get("REMOTE_ADDR", ""),
    ]
    for key, value in environ.items():
        if key[:5] == "HTTP_":
            parts += (_header_of(key[5:]), value)
    content_type = environ.get("CONTENT_TYPE")
    if content_type:
        parts += ("content-type", content_type)
    length = environ.get("CONTENT_LENGTH")
    left: int | None = 0
    if length:
        parts += ("content-length", length)
        try:
            left = max(0, int(length))
        except ValueError:
            return None
    elif environ.get("wsgi.input_terminated") and "HTTP_TRANSFER_ENCODING" in environ:
        left = None
    raw = environ.get("RAW_URI") or environ.get("REQUEST_URI")
    try:
        head = joined_head(parts, "\0")
        if head is None:
            return None
        return WsgiRequest(
            head=head.encode("latin-1"),
            root=environ.get("SCRIPT_NAME", "").encode("latin-1"),
            path=environ.get("PATH_INFO", "").encode("latin-1"),
            raw=raw.encode("latin-1") if raw else None,
            query=environ.get("QUERY_STRING", "").encode("latin-1"),
            input=environ.get("wsgi.input"),
            left=left,
            holds_back="HTTP_EXPECT" in environ,
            is_http_1_1=environ.get("SERVER_PROTOCOL") == "HTTP/1.1",
            client=environ.get("gunicorn.socket"),
        )
    except UnicodeEncodeError:
        return None


@lru_cache(maxsize=512)
def _header_of(variable: str) -> str:
    return variable.lower().replace("_", "-")


@lru_cache(maxsize=128)
def status_line(status: int) -> str:
    """The status with its reason phrase, which servers require."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status} Status"
