"""One thread's connection to Node, which carries one exchange after another."""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from typing import Any

from . import _frames as frames

#: Seconds until a thread that waits for an answer begins to look at its client as well.
PATIENCE = 0.05


class Lost(Exception):
    """Node has ended, or has closed the connection."""


class WsgiConnection:
    """A blocking socket pair and the frames that come over it."""

    def __init__(self, sock: socket.socket, epoch: int) -> None:
        #: Which of the Node processes is at the other end.
        self.epoch = epoch
        self._socket = sock
        self._descriptor = sock.fileno()
        self._buffer = b""
        #: Kind and payload of a frame that nobody has heard yet; kind 0 for none.
        self._whole = (0, b"")
        self._last_number = 0
        # The kernel's own timer: one of Python's would ask poll() ahead of every recv().
        seconds, rest = divmod(PATIENCE, 1)
        patience = struct.pack("@ll", int(seconds), int(rest * 1_000_000))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
        self._poller = select.poll()
        self._poller.register(sock, select.POLLIN)

    def begin(self) -> int:
        """The number of the next exchange. What is left of the one before is not heard any more."""
        self._last_number = self._last_number % 0xFFFF_FFFF + 1
        self._whole = (0, b"")
        return self._last_number

    def send(self, frame: bytes) -> None:
        try:
            self._socket.sendall(frame)
        except OSError as error:
            raise Lost from error

    def next(self) -> tuple[int, bytes]:
        """Kind and payload of the current exchange's next frame."""
        while not self._has_whole():
            if not self._fill():
                self._poll(None, None)
        kind, payload = self._whole
        self._whole = (0, b"")
        return kind, payload

    def wait_briefly(self) -> bool:
        """Whether a frame comes within PATIENCE, at the cost of a single system call."""
        while not self._has_whole():
            if not self._fill():
                return False
        return True

    def wait(self, timeout: float, client: Any = None) -> bool | None:
        """Whether a frame comes within so many seconds; None where the client leaves meanwhile."""
        watched = _descriptor(client)
        deadline = time.monotonic() + timeout
        while not self._has_whole():
            ready = self._poll(max(0.0, deadline - time.monotonic()), watched)
            if self._descriptor in ready:
                self._fill()
            elif watched in ready and _has_left(watched):
                return None
            elif time.monotonic() >= deadline:
                return False
            elif ready:
                watched = None  # It sends on: the end of that is not to be seen from here.
        return True

    def _poll(self, timeout: float | None, watched: int | None) -> set[int]:
        if watched is not None:
            self._poller.register(watched, select.POLLIN)
        try:
            return {
                descriptor
                for descriptor, _ in self._poller.poll(None if timeout is None else timeout * 1000)
            }
        finally:
            if watched is not None:
                self._poller.unregister(watched)

    def close(self) -> None:
        self._socket.close()

    def _has_whole(self) -> bool:
        """Takes the next frame of the current exchange; what is left of others is dropped."""
        if self._whole[0]:
            return True
        buffer = self._buffer
        at = 0
        while len(buffer) - at >= 9:
            length, kind, number = frames.HEADER.unpack_from(buffer, at)
            end = at + 9 + length
            if len(buffer) < end:
                break
            start, at = at + 9, end
            if number == self._last_number:
                self._whole = (kind, buffer[start:end])
                break
        if at:
            self._buffer = buffer[at:]
        return self._whole[0] != 0

    def _fill(self) -> bool:
        """Reads what is there; False where nothing comes within PATIENCE."""
        try:
            data = self._socket.recv(262_144)
        except BlockingIOError:
            return False
        except OSError as error:
            raise Lost from error
        if not data:
            raise Lost
        self._buffer = self._buffer + data if self._buffer else data
        return True


def _descriptor(client: Any) -> int | None:
    try:
        descriptor: int = client.fileno()
    except (AttributeError, OSError, ValueError):
        return None
    return descriptor if descriptor >= 0 else None


def _has_left(descriptor: int | None) -> bool:
    """Looks without taking, and past a TLS layer: an end is an end there too."""
    if descriptor is None:
        return False
    duplicate = socket.socket(fileno=os.dup(descriptor))
    try:
        return duplicate.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        duplicate.close()
