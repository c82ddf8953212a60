"""One thread's connection to Node, which carries one exchange after another."""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from typing import Any

from . import _frames as frames
from ._wsgi_client import descriptor_of, has_left

#: Seconds until a thread that waits for an answer begins to look at its client as well.
PATIENCE = 0.05
#: How often the main thread looks for an answer before it sleeps, about 1 us each. To wake a thread
#: on an idle processor costs more than the commonest answers take: 54 us of wall time for a call
#: fell to 23 us, both processes' CPU time from 54 us to 33 us, and gunicorn's sync worker gained a
#: fifth. Other threads only sleep: each look takes the interpreter's lock from one of them.
LOOKS = 100
#: Where looking was in vain, this many further waits at most go without it: a thread whose answers
#: take long spends at most 2 us on it for each.
MOST_SKIPPED = 63

READ_BYTES = 262_144


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
        self._looks = LOOKS if threading.current_thread() is threading.main_thread() else 0
        #: Waits that still go without looking, and how many do after the next look in vain.
        self._skipping = 0
        self._to_skip = 1
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
        watched = descriptor_of(client)
        deadline = time.monotonic() + timeout
        while not self._has_whole():
            ready = self._poll(max(0.0, deadline - time.monotonic()), watched)
            if self._descriptor in ready:
                self._fill()
            elif watched is not None and watched in ready and has_left(watched):
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
            data = self._look()
            if data is None:
                data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return False
        except OSError as error:
            raise Lost from error
        if not data:
            raise Lost
        self._buffer = self._buffer + data if self._buffer else data
        return True

    def _look(self) -> bytes | None:
        """What comes before it is worth the while to sleep."""
        if self._skipping:
            self._skipping -= 1
            return None
        recv = self._socket.recv
        for _ in range(self._looks):
            try:
                data = recv(READ_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
            self._to_skip = 1
            return data
        self._skipping = self._to_skip
        self._to_skip = min(2 * self._to_skip + 1, MOST_SKIPPED)
        return None
