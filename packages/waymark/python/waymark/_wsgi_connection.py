"""The connection of one thread to Node. It carries one exchange after another."""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from typing import Any

from . import _frames as frames
from ._wsgi_client import descriptor_of, has_left

#: Seconds until a thread that waits for an answer also watches its client.
PATIENCE = 0.05
#: How often the main thread polls for an answer before it sleeps, about 1 µs each. Waking a thread
#: on an idle processor costs more than the most common answers take: polling reduced the wall time
#: of a call from 54 µs to 23 µs and the CPU time of both processes from 54 µs to 33 µs. gunicorn's
#: sync worker gained a fifth. Other threads only sleep, because each poll takes the interpreter's
#: lock from one of them.
LOOKS = 100
#: After unsuccessful polling, at most this many further waits do not poll. A thread with slow
#: answers then spends at most 2 µs on it for each.
MOST_SKIPPED = 63

READ_BYTES = 262_144


class Lost(Exception):
    """Node has ended or has closed the connection."""


class WsgiConnection:
    """A blocking socket pair and its frames."""

    def __init__(self, sock: socket.socket, epoch: int) -> None:
        #: Identifies the Node process at the other end.
        self.epoch = epoch
        self._socket = sock
        self._descriptor = sock.fileno()
        self._buffer = b""
        #: Kind and payload of the unread frame. Kind 0 if there is none.
        self._whole = (0, b"")
        self._last_number = 0
        self._looks = LOOKS if threading.current_thread() is threading.main_thread() else 0
        #: Number of waits that still skip polling, and the number after the next unsuccessful
        #: polling.
        self._skipping = 0
        self._to_skip = 1
        # The kernel's timer: one of Python's would call poll() before every recv().
        seconds, rest = divmod(PATIENCE, 1)
        patience = struct.pack("@ll", int(seconds), int(rest * 1_000_000))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
        self._poller = select.poll()
        self._poller.register(sock, select.POLLIN)

    def begin(self) -> int:
        """The number of the next exchange. Ignores the remaining frames of the previous one."""
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
        """Whether a frame arrives within PATIENCE. Costs a single system call."""
        while not self._has_whole():
            if not self._fill():
                return False
        return True

    def wait(self, timeout: float, client: Any = None) -> bool | None:
        """Whether a frame arrives within this time. None if the client leaves first."""
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
                watched = None  # Further data of the client hides its end.
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
        """Reads the next frame of the current exchange. Drops frames of other exchanges."""
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
        """Reads the available bytes. False if none arrive within PATIENCE."""
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
        """Polls for bytes, which is cheaper than sleep if they arrive soon. None otherwise."""
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
