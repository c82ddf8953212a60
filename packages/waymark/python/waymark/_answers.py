"""The answers of this package itself: problem details (RFC 9457) in Node's format."""

from __future__ import annotations

import json
from http import HTTPStatus

Problem = tuple[int, list[tuple[bytes, bytes]], bytes]


def problem(status: HTTPStatus, detail: str) -> Problem:
    """Status, headers and body."""
    body = json.dumps(
        {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail},
        separators=(",", ":"),
    ).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
    ]
    return status.value, headers, body


def lost() -> Problem:
    """The answer to requests that were in progress when Node ended."""
    return problem(HTTPStatus.BAD_GATEWAY, "the process that served this request has ended")


def unavailable() -> Problem:
    """The answer to requests that arrive while Node cannot be started."""
    status, headers, body = problem(
        HTTPStatus.SERVICE_UNAVAILABLE, "the process that serves requests is not running"
    )
    return status, [*headers, (b"retry-after", b"1")], body


def malformed() -> Problem:
    """The answer to a request that a server should have rejected."""
    return problem(HTTPStatus.BAD_REQUEST, "a header contains a NUL")
