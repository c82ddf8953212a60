"""The WSGI application (PEP 3333), for gunicorn, mod_wsgi, waitress, uWSGI and other servers.

FRAMEWORK_PREFIX=controllers gunicorn waymark.wsgi:application
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable

from . import _answers
from ._bridge import Unavailable, fork_hooks, shared_bridge
from ._wsgi_connection import Lost, WsgiConnection
from ._wsgi_exchange import ExchangeBody, WsgiExchange
from ._wsgi_request import request_of, status_line

__all__ = ["application"]

Environ = dict[str, Any]
StartResponse = Callable[..., object]

_bridge = shared_bridge()
#: Idle connections: at most one for each thread that was busy at the same time.
_idle: list[WsgiConnection] = []
fork_hooks.append(_idle.clear)


def application(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Serves one request."""
    request = request_of(environ)
    if request is None:
        return _whole(environ, start_response, _answers.malformed())
    try:
        connection = _begin()
    except Unavailable:
        return _whole(environ, start_response, _answers.unavailable())
    exchange = WsgiExchange(connection, request, _idle.append)
    try:
        answer = exchange.answer()
    except Lost:
        return _whole(environ, start_response, _answers.lost())
    if answer is None:
        # Only the log shows it: nginx's status for a client that closed the connection.
        start_response("499 Client Closed Request", [("Content-Length", "0")])
        return []
    status, head, body, last = answer
    names = iter(head.split("\0") if head else ())
    start_response(status_line(status), list(zip(names, names)))
    if last:
        return [body] if body else []
    return ExchangeBody(exchange, body)


def _begin() -> WsgiConnection:
    """An idle connection, or a new one."""
    while _idle:
        try:
            connection = _idle.pop()
        except IndexError:
            break
        if connection.epoch == _bridge.epoch:
            return connection
        connection.close()
    epoch = _bridge.epoch
    return WsgiConnection(_bridge.connect(), epoch)


def _whole(
    environ: Environ, start_response: StartResponse, answer: _answers.Problem
) -> Iterable[bytes]:
    status, headers, body = answer
    start_response(
        status_line(status),
        [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers],
    )
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
