"""One request under WSGI, from its first frame to the last of its answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Callable

from . import _frames as frames
from ._wsgi_client import descriptor_of, reading_at_most
from ._wsgi_connection import Lost, WsgiConnection
from ._wsgi_request import WsgiRequest

#: Seconds that a thread waits for answer and client at once.
WATCH_EVERY = 60.0

#: Status, head, start of the body, whether that is all of it.
WsgiAnswer = tuple[int, str, bytes, bool]


class CutOff(Exception):
    """An answer that had begun goes no further: the server must not pass it off as complete."""


class WsgiExchange:
    """Feeds Node the body when it asks, since a thread can wait for one thing only."""

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
        """Node's answer, or None where the client has left before it. Raises Lost."""
        try:
            found = self._answer()
        except Lost:
            self._over = True
            self._connection.close()
            raise
        except BaseException:
            # The server has interrupted this thread: what still comes would meet the next request.
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
        """Node's next frame, or None where the client has left before it."""
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
                    raise CutOff("the application has cut its answer off")
                if kind == frames.WANT:
                    self._wanted += frames.SIZE.unpack(payload)[0]
        except Lost as error:
            self._over = True
            self._connection.close()
            raise CutOff("the process that served this request has ended") from error

    def credit(self, size: int) -> None:
        """So many bytes of the answer have been taken."""
        with suppress(Lost):  # The next piece will tell.
            self._connection.send(frames.credit_frame(self._number, size))

    def finish(self) -> None:
        """Node has said all: the connection is free for another request."""
        if not self._over:
            self._over = True
            self._release(self._connection)

    def leave(self) -> None:
        """Nobody waits for the rest of the answer."""
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
            # One frame for the commonest requests: a body this small waits in the socket already.
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
        """Nothing where the client has left."""
        try:
            piece: bytes = self._request.input.read(size)
        except OSError:
            return b""
        if self._left is not None:
            self._left -= len(piece)
        return piece

    def _drain(self) -> None:
        """Takes what still comes of a body that nobody reads, where an end to that can be set."""
        descriptor = descriptor_of(self._request.client)
        if descriptor is None:
            return
        taken = 0
        # Where no end can be set, the answer goes out at once.
        with suppress(OSError, RuntimeError), reading_at_most(frames.LINGER_SECONDS, descriptor):
            while self._left != 0 and taken < frames.LINGER_BYTES:
                left = frames.PIECE_BYTES if self._left is None else self._left
                piece = self._read(min(frames.PIECE_BYTES, left))
                if not piece:
                    break
                taken += len(piece)

    def _feed(self) -> bool:
        """Sends the body while Node wants it and says nothing. False where the client has left."""
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
    """The iterable that the server takes the answer from, and closes."""

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
            # An empty piece has the head sent.
            if piece or not self._last:
                return piece
        raise StopIteration

    def close(self) -> None:
        """Called by the server at the end of the request, however it ended."""
        self._exchange.leave()
