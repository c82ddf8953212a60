"""Answers that no Node gives: problem details (RFC 9457), as Node would have written them."""

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
    """For what was in flight when Node ended."""
    return problem(HTTPStatus.BAD_GATEWAY, "the process that served this request has ended")


def unavailable() -> Problem:
    """For what comes while Node cannot be started."""
    status, headers, body = problem(
        HTTPStatus.SERVICE_UNAVAILABLE, "the process that serves requests is not running"
    )
    return status, [*headers, (b"retry-after", b"1")], body


def malformed() -> Problem:
    """For what no server should have let through."""
    return problem(HTTPStatus.BAD_REQUEST, "a header contains a NUL")
