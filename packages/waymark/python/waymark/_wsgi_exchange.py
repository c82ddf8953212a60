"""One WSGI request, from its first frame to the last one of its answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Callable

from . import _frames as frames
from ._wsgi_client import descriptor_of, reading_at_most
from ._wsgi_connection import Lost, WsgiConnection
from ._wsgi_request import WsgiRequest

#: Seconds between two checks while a thread waits for both answer and client.
WATCH_EVERY = 60.0

#: Status, head, start of the body, whether the body is complete.
WsgiAnswer = tuple[int, str, bytes, bool]


class CutOff(Exception):
    """An answer ended incomplete. The server must not present it as complete."""


class WsgiExchange:
    """Sends the body to Node on request, because a thread can wait for only one thing."""

    def __init__(
        self,
        connection: WsgiConnection,
        request: WsgiRequest,
        release: Callable[[WsgiConnection], None],
    ) -> None:
        self._connection = connection
        self._request = request
        self._release = release
        self._left = request.left
        self._number = connection.begin()
        self._wanted = 0
        self._over = False

    def answer(self) -> WsgiAnswer | None:
        """Node's answer, or None if the client leaves first. Raises Lost."""
        try:
            found = self._answer()
        except Lost:
            self._over = True
            self._connection.close()
            raise
        except BaseException:
            # The server has interrupted this thread. Late frames would reach the next request.
            self._over = True
            self._connection.close()
            raise
        if found is None:
            self.leave()
        elif found[3]:
            self.finish()
            if self._left != 0:
                self._drain()
        return found

    def _answer(self) -> WsgiAnswer | None:
        if not self._send_request():
            return None
        while True:
            frame = self._next_frame()
            if frame is None:
                return None
            kind, payload = frame
            if kind == frames.ANSWER:
                flags, status, length = frames.ANSWER_PARTS.unpack_from(payload)
                start = frames.ANSWER_PARTS.size
                head = payload[start : start + length].decode("latin-1")
                return status, head, payload[start + length :], flags & frames.LAST != 0
            if kind == frames.WANT:
                self._wanted += frames.SIZE.unpack(payload)[0]

    def _next_frame(self) -> tuple[int, bytes] | None:
        """Node's next frame, or None if the client leaves first."""
        while self._feed():
            if not self._connection.wait_briefly():
                ready = self._connection.wait(WATCH_EVERY, self._request.client)
                if ready is None:
                    return None
                if not ready:
                    continue
            return self._connection.next()
        return None

    def next_piece(self) -> tuple[bytes, bool]:
        """A piece of the answer's body, and whether it is the last. Raises CutOff."""
        try:
            while True:
                frame = self._next_frame()
                if frame is None:
                    self.leave()
                    raise CutOff("the client has left")
                kind, payload = frame
                if kind == frames.PIECE:
                    last = payload[0] & frames.LAST != 0
                    if last:
                        self.finish()
                    return payload[1:], last
                if kind == frames.CUT:
                    self.finish()
                    raise CutOff("the application failed before its answer was complete")
                if kind == frames.WANT:
                    self._wanted += frames.SIZE.unpack(payload)[0]
        except Lost as error:
            self._over = True
            self._connection.close()
            raise CutOff("the process that served this request has ended") from error

    def credit(self, size: int) -> None:
        """Number of bytes of the answer that the server has accepted."""
        with suppress(Lost):  # The next piece will fail.
            self._connection.send(frames.credit_frame(self._number, size))

    def finish(self) -> None:
        """Node has sent the whole answer. The connection is free for another request."""
        if not self._over:
            self._over = True
            self._release(self._connection)

    def leave(self) -> None:
        """The rest of the answer is not needed."""
        if self._over:
            return
        try:
            self._connection.send(frames.left_frame(self._number))
        except Lost:
            self._over = True
            self._connection.close()
        self.finish()

    def _send_request(self) -> bool:
        request = self._request
        body = b""
        if self._left is not None and self._left <= frames.UNASKED and not request.holds_back:
            # One frame for the most common requests: a small body is already in the socket.
            while self._left > 0:
                piece = self._read(self._left)
                if not piece:
                    return False
                body += piece
        flags = frames.LATIN1_PATH | frames.HOLDS_BACK
        if self._left == 0:
            flags |= frames.LAST
        if request.is_http_1_1:
            flags |= frames.HTTP_1_1
        self._connection.send(
            frames.request_frame(
                self._number,
                flags,
                request.head,
                request.root,
                request.path,
                request.raw,
                request.query,
                body,
            )
        )
        return True

    def _read(self, size: int) -> bytes:
        """Empty if the client has left."""
        try:
            piece: bytes = self._request.input.read(size)
        except OSError:
            return b""
        if self._left is not None:
            self._left -= len(piece)
        return piece

    def _drain(self) -> None:
        """Reads the rest of an unused body, if the time for it can be limited."""
        descriptor = descriptor_of(self._request.client)
        if descriptor is None:
            return
        taken = 0
        # Without a time limit, the answer is sent at once.
        with suppress(OSError, RuntimeError), reading_at_most(frames.LINGER_SECONDS, descriptor):
            while self._left != 0 and taken < frames.LINGER_BYTES:
                left = frames.PIECE_BYTES if self._left is None else self._left
                piece = self._read(min(frames.PIECE_BYTES, left))
                if not piece:
                    break
                taken += len(piece)

    def _feed(self) -> bool:
        """Sends the body until Node answers or accepts no more. False if the client has left."""
        while self._wanted > 0 and self._left != 0 and not self._connection.wait(0):
            asked = min(frames.PIECE_BYTES, self._wanted)
            piece = self._read(asked if self._left is None else min(asked, self._left))
            if not piece:
                if self._left is not None:
                    return False
                self._left = 0
            self._wanted -= len(piece)
            self._connection.send(frames.body_frame(self._number, piece, self._left == 0))
        return True


class ExchangeBody:
    """The iterable of the answer. The server reads and closes it."""

    def __init__(self, exchange: WsgiExchange, first: bytes) -> None:
        self._exchange = exchange
        self._first = first
        self._taken = 0
        self._last = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._first:
            first, self._first = self._first, b""
            return first
        if self._taken >= frames.CREDIT_STEP:
            self._exchange.credit(self._taken)
            self._taken = 0
        while not self._last:
            piece, self._last = self._exchange.next_piece()
            self._taken += len(piece)
            # An empty piece sends the head.
            if piece or not self._last:
                return piece
        raise StopIteration

    def close(self) -> None:
        """The server always calls it at the end of the request."""
        self._exchange.leave()
