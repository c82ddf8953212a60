"""The client's socket from gunicorn, to detect that the client has left."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


def descriptor_of(client: Any) -> int | None:
    """None if the server does not provide a socket."""
    try:
        descriptor: int = client.fileno()
    except (AttributeError, OSError, ValueError):
        return None
    return descriptor if descriptor >= 0 else None


def has_left(descriptor: int) -> bool:
    """Peeks below the TLS layer, which does not affect the detection of an end."""
    try:
        duplicate = socket.socket(fileno=os.dup(descriptor))
    except OSError:
        return False  # No descriptor is free. A failed write will detect it.
    try:
        return duplicate.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        duplicate.close()


@contextmanager
def reading_at_most(seconds: float, descriptor: int) -> Iterator[None]:
    """Limits the time for reading from a client, whatever it sends. A timeout of the socket would
    restart with each byte. Answers can still be sent. Raises OSError or RuntimeError if no
    descriptor or no thread is available.
    """
    duplicate = socket.socket(fileno=os.dup(descriptor))

    def end() -> None:
        with suppress(OSError):
            duplicate.shutdown(socket.SHUT_RD)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    try:
        timer.start()
        yield
    finally:
        timer.cancel()
        duplicate.close()
