"""The connection of one event loop to Node. It carries all exchanges of the loop."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Union, cast

from . import _frames as frames

Headers = list[tuple[bytes, bytes]]
#: status, headers, start of the body, whether the body is complete
AnswerEvent = tuple[int, Headers, bytes, bool]
#: piece, whether it is the last one
PieceEvent = tuple[bytes, bool]
#: The events of an exchange: Node's answer and its pieces, CUT when the answer ends incomplete,
#: LEFT when the client has left, None when Node has ended.
ExchangeEvent = Union[AnswerEvent, PieceEvent, int, None]


class Exchange:
    """One request in progress, with the unread events from Node."""

    __slots__ = ("_credit", "_credit_waiter", "_events", "_loop", "_waiter", "number")

    def __init__(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        self.number = number
        self._loop = loop
        self._events: deque[ExchangeEvent] = deque()
        self._waiter: asyncio.Future[ExchangeEvent] | None = None
        self._credit = 0
        self._credit_waiter: asyncio.Future[None] | None = None

    def push(self, event: ExchangeEvent) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            self._waiter = None
            waiter.set_result(event)
        else:
            self._events.append(event)

    async def next(self) -> ExchangeEvent:
        if self._events:
            return self._events.popleft()
        waiter: asyncio.Future[ExchangeEvent] = self._loop.create_future()
        self._waiter = waiter
        return await waiter

    def add_credit(self, size: int) -> None:
        self._credit += size
        waiter = self._credit_waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def credit(self) -> None:
        """Waits until Node accepts more of the body."""
        while self._credit <= 0:
            self._credit_waiter = self._loop.create_future()
            await self._credit_waiter

    def spend(self, size: int) -> None:
        self._credit -= size


class AsgiConnection(asyncio.Protocol):
    """The protocol of the socket pair. Sends all frames of one turn of the loop together."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.usable = False
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._exchanges: dict[int, Exchange] = {}
        self._last_number = 0
        self._rest = b""
        self._out: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not derive from asyncio's classes.
        self._transport = cast("asyncio.Transport", transport)
        self.usable = True

    def connection_lost(self, exc: Exception | None) -> None:
        self.usable = False
        for exchange in self._exchanges.values():
            exchange.push(None)
        self._exchanges.clear()

    def begin(self) -> Exchange:
        self._last_number = number = self._last_number % 0xFFFF_FFFF + 1
        exchange = Exchange(self._loop, number)
        self._exchanges[number] = exchange
        if not self.usable:
            exchange.push(None)
        return exchange

    def end(self, exchange: Exchange) -> None:
        self._exchanges.pop(exchange.number, None)

    def write(self, frame: bytes) -> None:
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(frame)

    def _flush(self) -> None:
        out = self._out
        self._out = []
        if self.usable and self._transport is not None:
            self._transport.write(out[0] if len(out) == 1 else b"".join(out))

    def data_received(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        at = 0
        end = len(data)
        while end - at >= 9:
            length, kind, number = frames.HEADER.unpack_from(data, at)
            start = at + 9
            at = start + length
            if at > end:
                at = start - 9
                break
            exchange = self._exchanges.get(number)
            # The exchange ended when its client left.
            if exchange is None:
                continue
            if kind == frames.ANSWER:
                exchange.push(_answer(data, start, at))
            elif kind == frames.PIECE:
                exchange.push((data[start + 1 : at], data[start] & frames.LAST != 0))
            elif kind == frames.WANT:
                exchange.add_credit(frames.SIZE.unpack_from(data, start)[0])
            elif kind == frames.CUT:
                exchange.push(frames.CUT)
        self._rest = data[at:] if at < end else b""


def _answer(data: bytes, start: int, end: int) -> AnswerEvent:
    flags, status, head_length = frames.ANSWER_PARTS.unpack_from(data, start)
    head_start = start + frames.ANSWER_PARTS.size
    body_start = head_start + head_length
    headers: Headers = []
    if head_length:
        parts = iter(data[head_start:body_start].split(b"\0"))
        headers = list(zip(parts, parts))
    return status, headers, data[body_start:end], flags & frames.LAST != 0
