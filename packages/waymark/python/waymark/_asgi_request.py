"""The request of an ASGI exchange: its body, and the detection of its client's leaving."""

from __future__ import annotations

import asyncio

from . import _frames as frames
from ._asgi_connection import AsgiConnection, Exchange
from ._asgi_types import Event, Receive, Scope

#: Seconds until an exchange starts to watch its client. A task for every faster answer would
#: increase the bridge's CPU time by a fifth.
WATCH_AFTER = 0.05


class Request:
    """Sends the request to Node, and a LEFT frame when the client has left."""

    __slots__ = (
        "_complete",
        "_connection",
        "_drained",
        "_exchange",
        "_holds_back",
        "_loop",
        "_receive",
        "_started",
        "_task",
        "_timer",
        "answered",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: AsgiConnection,
        exchange: Exchange,
        receive: Receive,
    ) -> None:
        self._loop = loop
        self._connection = connection
        self._exchange = exchange
        self._receive = receive
        self._complete = True
        self._holds_back = False
        self._started = False
        self._drained: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        #: True once Node has sent the whole answer.
        self.answered = False

    async def start(self, scope: Scope) -> bool:
        """Sends the request to Node. False for a request that cannot be sent."""
        client = scope.get("client")
        parts = [
            scope["method"].encode("latin-1"),
            scope.get("scheme", "http").encode("latin-1"),
            client[0].encode("latin-1", "replace") if client else b"",
        ]
        for pair in scope["headers"]:
            parts += pair
        head = frames.joined_head(parts, b"\0")
        if head is None:
            self.answered = True
            return False
        body = b""
        first: asyncio.Future[Event] | None = None
        if (
            b"content-length" in parts
            or b"transfer-encoding" in parts
            or not scope["http_version"].startswith("1")
        ):
            self._complete = False
            if b"expect" in parts:
                # The first receive() would invite the body, and Node decides when to do that.
                self._holds_back = True
            else:
                # Most bodies are available at once. The request does not wait for others.
                waiting = asyncio.ensure_future(self._receive())
                await asyncio.sleep(0)
                if not waiting.done():
                    first = waiting
                else:
                    event = waiting.result()
                    if event["type"] == "http.disconnect":
                        self.answered = True
                        self._exchange.push(frames.LEFT)
                        return True
                    body = event.get("body", b"")
                    self._complete = not event.get("more_body", False)
        self._exchange.add_credit(0 if self._holds_back else frames.UNASKED)
        raw = scope.get("raw_path")
        rest = b""
        if len(body) > frames.UNASKED:
            body, rest = body[: frames.UNASKED], body[frames.UNASKED :]
        flags = (
            (frames.LAST if self._complete and not rest else 0)
            | (frames.HOLDS_BACK if self._holds_back else 0)
            | (frames.HTTP_1_1 if scope["http_version"] == "1.1" else 0)
        )
        self._exchange.spend(len(body))
        self._connection.write(
            frames.request_frame(
                self._exchange.number,
                flags,
                head,
                scope.get("root_path", "").encode("utf-8", "replace"),
                scope["path"].encode("utf-8", "replace"),
                raw,
                scope.get("query_string", b""),
                bytes(body),
            )
        )
        self._started = True
        if rest or not self._complete:
            self._task = self._loop.create_task(self._attend(first, rest))
        else:
            self._timer = self._loop.call_later(WATCH_AFTER, self.watch)
        return True

    def watch(self) -> None:
        """Starts to watch the client."""
        if self._task is None:
            self._task = self._loop.create_task(self._attend(None, b""))

    async def _attend(self, first: asyncio.Future[Event] | None, rest: bytes) -> None:
        """Sends the body at Node's pace, then waits for the client to leave."""
        try:
            if rest:
                await self._send_body(rest, self._complete)
            while True:
                if self._holds_back:
                    await self._exchange.credit()
                    self._holds_back = False
                event = await (first if first is not None else self._receive())
                first = None
                if event["type"] != "http.request":
                    break
                # A body that was not announced is empty.
                if not self._complete:
                    self._complete = not event.get("more_body", False)
                    await self._send_body(event.get("body", b""), self._complete)
                if self._complete and self._drained is not None:
                    break
        except Exception:
            pass  # A failed receive() means that the client has left.
        self._leave()
        self._exchange.push(frames.LEFT)
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    async def _send_body(self, body: bytes, last: bool) -> None:
        at = 0
        while True:
            piece = bytes(body[at : at + frames.PIECE_BYTES])
            at += len(piece)
            if piece:
                await self._exchange.credit()
                self._exchange.spend(len(piece))
            end = at >= len(body)
            if (piece or (last and end)) and not self.answered:
                self._connection.write(
                    frames.body_frame(self._exchange.number, piece, last and end)
                )
            if end:
                return

    @property
    def lingers(self) -> bool:
        """Whether the body is still arriving."""
        return not self._complete and not self._holds_back

    async def drain(self) -> None:
        """Reads the rest of an unused body, within bounds."""
        self._drained = self._loop.create_future()
        self._exchange.add_credit(frames.LINGER_BYTES)
        await asyncio.wait({self._drained}, timeout=frames.LINGER_SECONDS)

    def finish(self) -> None:
        """Ends the exchange."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
        self._leave()

    def _leave(self) -> None:
        """Tells Node that the answer is no longer needed, unless the answer is complete."""
        if self._started and not self.answered:
            self.answered = True
            self._connection.write(frames.left_frame(self._exchange.number))
