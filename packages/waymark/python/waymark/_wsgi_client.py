"""The client's socket, which gunicorn lends: what a thread can learn of the client it serves."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


def descriptor_of(client: Any) -> int | None:
    """None where the server lends no socket."""
    try:
        descriptor: int = client.fileno()
    except (AttributeError, OSError, ValueError):
        return None
    return descriptor if descriptor >= 0 else None


def has_left(descriptor: int) -> bool:
    """Looks without taking, and past a TLS layer: an end is an end there too."""
    try:
        duplicate = socket.socket(fileno=os.dup(descriptor))
    except OSError:
        return False  # No descriptor is free: it will show when the answer is sent.
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
    """Whatever the client still sends, it is at its end after so many seconds: a timeout of the
    socket would begin anew with each of its bytes. Answers can be sent all the same. Raises OSError
    or RuntimeError where no descriptor or no thread is to be had.
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
