"""The frames between Python and Node.

``src/serve/bridge/frames.ts`` of the npm package describes them. Both files change together, and
``PROTOCOL`` with them.
"""

from __future__ import annotations

import struct
from typing import AnyStr

PROTOCOL = 1

HEADER = struct.Struct("!IBI")  # length of the payload, kind, exchange
REQUEST_PARTS = struct.Struct("!B5I")  # flags; lengths of head, root, path, raw, query
ANSWER_PARTS = struct.Struct("!BHI")  # flags, status, length of the head
SIZE = struct.Struct("!I")

REQUEST = 1
BODY = 2
LEFT = 3
CREDIT = 4
ANSWER = 5
PIECE = 6
CUT = 7
WANT = 8

LAST = 1
LATIN1_PATH = 2
HAS_RAW = 4
HOLDS_BACK = 8
HTTP_1_1 = 16

UNASKED = 64 * 1024  # bytes of a body that go to Node before it requests them
PIECE_BYTES = 64 * 1024
CREDIT_STEP = 128 * 1024  # half of the bytes that Node sends ahead

# Bounds in time and bytes for reading an unused body, so that the client receives the answer. A
# server that closes while more is arriving resets the connection.
LINGER_SECONDS = 2.0
LINGER_BYTES = 4 * 1024 * 1024


def request_frame(
    exchange: int,
    flags: int,
    head: bytes,
    root: bytes,
    path: bytes,
    raw: bytes | None,
    query: bytes,
    body: bytes,
) -> bytes:
    """One request. ``body`` is its start, or all of it if the flags have LAST."""
    if raw is None:
        raw = b""
    else:
        flags |= HAS_RAW
    parts = REQUEST_PARTS.pack(flags, len(head), len(root), len(path), len(raw), len(query))
    payload = b"".join((parts, head, root, path, raw, query, body))
    return HEADER.pack(len(payload), REQUEST, exchange) + payload


def body_frame(exchange: int, piece: bytes, last: bool) -> bytes:
    """A further piece of the request's body."""
    return HEADER.pack(len(piece) + 1, BODY, exchange) + (b"\x01" if last else b"\x00") + piece


def left_frame(exchange: int) -> bytes:
    """The client has left, or the answer is no longer needed."""
    return HEADER.pack(0, LEFT, exchange)


def credit_frame(exchange: int, size: int) -> bytes:
    """Number of further bytes of the answer that Python accepts."""
    return HEADER.pack(4, CREDIT, exchange) + SIZE.pack(size)


def joined_head(parts: list[AnyStr], nul: AnyStr) -> AnyStr | None:
    """The parts joined by NUL, or None if one of them contains a NUL."""
    head = nul.join(parts)
    return head if head.count(nul) == len(parts) - 1 else None
