"""One thread's connection to Node, which carries one exchange after another."""

from __future__ import annotations

import os
import select
import socket
from typing import Any

from . import _frames as frames


class Lost(Exception):
    """Node has ended, or has closed the connection."""


class WsgiConnection:
    """A blocking socket pair and the frames that come over it."""

    def __init__(self, sock: socket.socket, generation: int) -> None:
        self.generation = generation
        self._socket = sock
        self._buffer = b""
        self._last_number = 0
        self._poller = select.poll()
        self._poller.register(sock, select.POLLIN)

    def begin(self) -> int:
        """The number of the next exchange. What is left of the one before is not heard any more."""
        self._last_number = self._last_number % 0xFFFF_FFFF + 1
        return self._last_number

    def send(self, frame: bytes) -> None:
        try:
            self._socket.sendall(frame)
        except OSError as error:
            raise Lost from error

    def next(self) -> tuple[int, bytes]:
        """Kind and payload of the current exchange's next frame."""
        while True:
            found = self._take()
            if found is not None:
                return found
            self._fill()

    def has_frame(self, timeout: float, client: socket.socket | None = None) -> bool | None:
        """Whether Node has sent something; None where the client has left meanwhile."""
        if self._buffer:
            return True
        watched = _descriptor(client)
        if watched is None:
            return bool(self._poller.poll(timeout * 1000))
        self._poller.register(watched, select.POLLIN)
        try:
            ready = {descriptor for descriptor, _ in self._poller.poll(timeout * 1000)}
        finally:
            self._poller.unregister(watched)
        if self._socket.fileno() in ready:
            return True
        return None if watched in ready and _has_left(watched) else False

    def close(self) -> None:
        self._socket.close()

    def _take(self) -> tuple[int, bytes] | None:
        buffer = self._buffer
        while len(buffer) >= 9:
            length, kind, number = frames.HEADER.unpack_from(buffer)
            end = 9 + length
            if len(buffer) < end:
                break
            payload = buffer[9:end]
            self._buffer = buffer = buffer[end:]
            if number == self._last_number:
                return kind, payload
        return None

    def _fill(self) -> None:
        try:
            data = self._socket.recv(262_144)
        except OSError as error:
            raise Lost from error
        if not data:
            raise Lost
        self._buffer = self._buffer + data if self._buffer else data


def _descriptor(client: Any) -> int | None:
    try:
        descriptor: int = client.fileno()
    except (AttributeError, OSError, ValueError):
        return None
    return descriptor if descriptor >= 0 else None


def _has_left(descriptor: int) -> bool:
    """Looks without taking, and past a TLS layer: an end is an end there too."""
    duplicate = socket.socket(fileno=os.dup(descriptor))
    try:
        return duplicate.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        duplicate.close()
