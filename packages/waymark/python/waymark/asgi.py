"""The ASGI 3 application, for uvicorn, hypercorn, granian, daphne and other servers.

FRAMEWORK_PREFIX=controllers uvicorn --factory waymark.asgi:factory
"""

from __future__ import annotations

import asyncio

from . import _answers
from . import _frames as frames
from ._asgi_connection import AsgiConnection, Exchange
from ._asgi_request import Request
from ._asgi_types import Application, Receive, Scope, Send
from ._bridge import Unavailable, fork_hooks, shared_bridge

__all__ = ["application", "factory"]

_bridge = shared_bridge()
_connections: dict[asyncio.AbstractEventLoop, AsgiConnection | asyncio.Task[AsgiConnection]] = {}
fork_hooks.append(_connections.clear)


class CutOff(Exception):
    """An answer ended incomplete. The server must not present it as complete."""


# A coroutine function with three required parameters. Servers inspect it to distinguish ASGI 3 from
# ASGI 2, and an application from a factory.
async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Serves ``http`` and ``lifespan``. Rejects a websocket."""
    kind = scope["type"]
    if kind == "http":
        await _serve_http(scope, receive, send)
    elif kind == "lifespan":
        await _serve_lifespan(receive, send)
    elif kind == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1000, "reason": ""})
    else:
        raise TypeError(f"the ASGI scope type {kind!r} is not supported")


def factory() -> Application:
    """Returns the application, for servers that expect a factory."""
    return application


#: The message for trio's servers, sent at the start instead of a traceback for each request.
_NOT_ASYNCIO = (
    "waymark.asgi runs on asyncio: start the server with a worker of that kind, not trio's"
)


async def _serve_lifespan(receive: Receive, send: Send) -> None:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": _NOT_ASYNCIO})
        return
    while True:
        kind = (await receive())["type"]
        if kind == "lifespan.startup":
            try:
                # Node is already running, unless this process has had a shutdown before.
                await loop.run_in_executor(None, _bridge.start)
            except Exception as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            await send({"type": "lifespan.startup.complete"})
        elif kind == "lifespan.shutdown":
            await loop.run_in_executor(None, _bridge.stop)
            await send({"type": "lifespan.shutdown.complete"})
            return


async def _serve_http(scope: Scope, receive: Receive, send: Send) -> None:
    loop = asyncio.get_running_loop()
    connection = _connections.get(loop)
    if not isinstance(connection, AsgiConnection) or not connection.usable:
        try:
            connection = await _connect(loop)
        except Unavailable:
            await _send_whole(send, scope, _answers.unavailable())
            return
    exchange = connection.begin()
    request = Request(loop, connection, exchange, receive)
    try:
        if not await request.start(scope):
            await _send_whole(send, scope, _answers.malformed())
            return
        await _answer(scope, send, connection, exchange, request)
    finally:
        request.finish()
        connection.end(exchange)


async def _answer(
    scope: Scope, send: Send, connection: AsgiConnection, exchange: Exchange, request: Request
) -> None:
    event = await exchange.next()
    if event is None:
        request.answered = True
        await _send_whole(send, scope, _answers.lost())
        return
    if not isinstance(event, tuple) or len(event) != 4:
        return  # The client has left before its answer.
    status, headers, piece, last = event
    request.answered = last
    try:
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if last:
            lingers = request.lingers
            await send({"type": "http.response.body", "body": piece, "more_body": lingers})
            if lingers:
                await request.drain()
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        request.watch()
        taken = 0
        while not last:
            event = await exchange.next()
            if event == frames.LEFT:
                return
            if not isinstance(event, tuple) or len(event) != 2:
                request.answered = True
                raise CutOff("the application failed or ended before its answer was complete")
            piece, last = event
            request.answered = last
            await send({"type": "http.response.body", "body": piece, "more_body": not last})
            taken += len(piece)
            if taken >= frames.CREDIT_STEP and not last:
                connection.write(frames.credit_frame(exchange.number, taken))
                taken = 0
    except OSError:
        # Since version 2.4 of the specification, send() raises it when the client has left.
        pass


async def _send_whole(send: Send, scope: Scope, answer: _answers.Problem) -> None:
    status, headers, body = answer
    if scope["method"] == "HEAD":
        body = b""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _connect(loop: asyncio.AbstractEventLoop) -> AsgiConnection:
    """The loop's connection. Concurrent callers share one attempt."""
    found = _connections.get(loop)
    if not isinstance(found, asyncio.Task):
        for other in [each for each in _connections if each.is_closed()]:
            del _connections[other]
        found = loop.create_task(_open(loop))
        _connections[loop] = found
    try:
        # A client that leaves must not cancel the attempt for the others.
        return await asyncio.shield(found)
    finally:
        if found.done() and _connections.get(loop) is found and found.exception() is not None:
            del _connections[loop]


async def _open(loop: asyncio.AbstractEventLoop) -> AsgiConnection:
    ours = _bridge.connect_at_once()
    if ours is None:
        ours = await loop.run_in_executor(None, _bridge.connect)
    ours.setblocking(False)
    connection = AsgiConnection(loop)
    # asyncio accepts any connected stream socket here.
    await loop.create_connection(lambda: connection, sock=ours)
    _connections[loop] = connection
    return connection
