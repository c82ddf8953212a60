"""The Node process: starts it, reads its messages, and sends it sockets."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any


class NodeProcess:
    """One run of Node. It ends when this process closes its sockets to Node.

    Messages use Node's channel to a parent of its own kind (``NODE_CHANNEL_FD``, documented for
    ``child_process.fork``): one line of JSON for each, with sockets attached.
    """

    def __init__(self, command: list[str]) -> None:
        self.usable = False
        self._sending = threading.Lock()
        self._unacknowledged: deque[socket.socket] = deque()
        self._channel, theirs = socket.socketpair()
        self._lifeline, other_end = socket.socketpair()
        environment = {**os.environ, "NODE_CHANNEL_FD": str(theirs.fileno())}
        environment.pop("NODE_CHANNEL_SERIALIZATION_MODE", None)
        try:
            self._process = subprocess.Popen(
                [*command, "bridge", f"--lifeline={other_end.fileno()}"],
                env=environment,
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), other_end.fileno()),
            )
        except BaseException:
            self.abandon()
            raise
        finally:
            theirs.close()
            other_end.close()

    def messages(self) -> Iterator[dict[str, Any]]:
        """Node's messages, until it ends."""
        rest = b""
        while True:
            try:
                data = self._channel.recv(65536)
            except OSError:
                return
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if message.get("cmd") == "NODE_HANDLE_ACK":
                    self._unacknowledged.popleft().close()
                else:
                    yield message

    def connect(self) -> socket.socket:
        """A socket to Node for exchanges. Raises OSError if Node has ended."""
        ours, theirs = socket.socketpair()
        message = b'{"cmd":"NODE_HANDLE","type":"net.Socket","msg":"connection"}\n'
        try:
            with self._sending:
                # Kept until Node has it, because some systems lose a descriptor that is closed in
                # transit.
                self._unacknowledged.append(theirs)
                socket.send_fds(self._channel, [message], [theirs.fileno()])
        except BaseException:
            ours.close()
            raise
        return ours

    def ask_to_stop(self) -> None:
        """Lets Node run ``onStop`` and end."""
        try:
            with self._sending:
                self._channel.sendall(b'"stop"\n')
        except OSError:
            pass  # It has already ended.

    def wait(self, timeout: float) -> int:
        """The exit status once Node has ended. Kills Node after the time limit."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def abandon(self) -> None:
        """Closes this process's ends of the sockets, which ends Node."""
        self._channel.close()
        self._lifeline.close()
        for waiting in list(self._unacknowledged):
            waiting.close()
