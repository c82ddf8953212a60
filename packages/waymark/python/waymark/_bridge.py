"""Keeps one Node process running for this Python process."""

from __future__ import annotations

import atexit
import os
import socket
import sys
import threading
import time
import weakref
from typing import Any, Callable

from ._find import StartError, command
from ._frames import PROTOCOL
from ._process import NodeProcess

START_TIMEOUT = 60.0  # seconds; onStart may wait for a database
RESTART_TIMEOUT = 10.0  # how long a request waits while Node restarts
STOP_TIMEOUT = 15.0  # for onStop, before Node is killed
EXIT_TIMEOUT = 5.0  # from the end of Node's channel to the end of Node
PAUSES = (0.0, 0.1, 0.2, 0.4, 0.8)  # before each restart; the last one repeats


class Unavailable(Exception):
    """No Node process is available."""


class Bridge:
    """The supervisor: starts Node, restarts it when it ends, and stops it."""

    def __init__(self) -> None:
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._reset()
        atexit.register(self.stop)
        os.register_at_fork(after_in_child=self._after_fork)

    def _reset(self) -> None:
        self._changed = threading.Condition()
        self._process: NodeProcess | None = None
        self._failure: str | None = None
        self._running = False
        self._stopping = False
        self._owner = os.getpid()
        self._was_ready = False
        #: Number of Node processes that have ended. Connections to them are not used again.
        self.epoch = 0

    def start(self) -> None:
        """Starts Node unless it is running. Raises StartError if the application cannot start."""
        with self._changed:
            if not self._running:
                self._launch(command())
            self._changed.wait_for(self._settled, START_TIMEOUT)
            if self._process is not None and self._process.usable:
                return
            failure = self._failure
        self.stop()
        if failure is None:
            failure = f"waymark: the application was not ready within {START_TIMEOUT:.0f} s"
        raise StartError(failure)

    def _launch(self, arguments: list[str]) -> None:
        """Requires the lock."""
        self._failure = None
        self._stopping = False
        self._running = True
        try:
            self._process = NodeProcess(arguments)
        except OSError as error:
            self._running = False
            raise StartError(f"{arguments[0]} cannot be run: {error.strerror}") from error
        threading.Thread(
            target=self._supervise, args=(arguments,), name="waymark", daemon=True
        ).start()

    def _settled(self) -> bool:
        process = self._process
        return (process is not None and process.usable) or self._failure is not None

    def _supervise(self, arguments: list[str]) -> None:
        """The thread that reads Node's messages and restarts Node."""
        changed = self._changed
        attempts = 0
        while True:
            process = self._process
            assert process is not None
            for message in process.messages():
                self._hear(message, process)
            was_usable = process.usable
            with changed:
                process.usable = False
                self.epoch += 1
            process.abandon()
            status = process.wait(STOP_TIMEOUT if self._stopping else EXIT_TIMEOUT)
            with changed:
                if not was_usable and self._failure is None:
                    self._failure = _ended_early(status)
                first_start = not self._was_ready
                if self._stopping or first_start:
                    self._running = False
                changed.notify_all()
                if not self._running:
                    return
            attempts = 0 if was_usable else min(attempts + 1, len(PAUSES) - 1)
            if was_usable:
                _log(f"waymark: Node has ended ({_how(status)}); restarting it")
            time.sleep(PAUSES[attempts])
            with changed:
                if self._stopping:
                    self._running = False
                    return
                self._failure = None
                try:
                    self._process = NodeProcess(arguments)
                except OSError as error:
                    self._failure = f"waymark: {arguments[0]} cannot be run: {error.strerror}"
                    self._running = False
                    return

    def _hear(self, message: dict[str, Any], process: NodeProcess) -> None:
        failure = message.get("failed")
        if message.get("ready") and message.get("protocol") != PROTOCOL:
            failure = (
                "waymark: the Python package and the npm package @tollway/waymark are of different "
                "versions: install the same of both"
            )
            process.ask_to_stop()
        with self._changed:
            if failure is not None:
                # Requests no longer wait for the answer when Node restarts.
                if self._was_ready or message.get("stopped"):
                    _log(failure)
                self._failure = failure
            elif message.get("ready"):
                process.usable = True
                self._was_ready = True
            self._changed.notify_all()

    def connect(self) -> socket.socket:
        """A socket to Node. Waits for a limited time while Node restarts."""
        deadline = time.monotonic() + RESTART_TIMEOUT
        while True:
            process = self.wait_until_usable(deadline)
            try:
                connection = process.connect()
            except OSError:
                time.sleep(0.01)  # Node has just ended, and the supervisor has not noticed yet.
                continue
            self._sockets.add(connection)
            return connection

    def connect_at_once(self) -> socket.socket | None:
        """A socket to Node, or None if the caller would have to wait for it."""
        process = self._process
        if process is None or not process.usable:
            return None
        try:
            connection = process.connect()
        except OSError:
            return None
        self._sockets.add(connection)
        return connection

    def wait_until_usable(self, deadline: float) -> NodeProcess:
        """The Node process once it is ready. Raises Unavailable at the deadline."""
        with self._changed:
            if not self._running and self._failure is None:
                try:
                    self._launch(command())
                except StartError as error:
                    raise Unavailable(str(error)) from error
            self._changed.wait_for(self._settled, max(0.0, deadline - time.monotonic()))
            process = self._process
            if process is None or not process.usable:
                raise Unavailable(self._failure or "Node is not ready")
            return process

    def stop(self) -> None:
        """Lets Node run ``onStop`` and end. Kills it after the time limit."""
        with self._changed:
            process = self._process
            if not self._running or process is None or self._owner != os.getpid():
                return
            self._stopping = True
        process.ask_to_stop()
        with self._changed:
            if not self._changed.wait_for(lambda: not self._running, STOP_TIMEOUT):
                process.abandon()
            self._process = None
            self._was_ready = False

    def _after_fork(self) -> None:
        """Closes the parent's sockets in a forked child, which starts its own Node."""
        inherited = self._process
        was_running = self._running
        if inherited is not None:
            inherited.abandon()
        for connection in list(self._sockets):
            connection.close()
        self._sockets = weakref.WeakSet()
        self._reset()
        for hook in list(fork_hooks):
            hook()
        if was_running:
            try:
                with self._changed:
                    self._launch(command())
            except StartError as error:
                self._failure = f"waymark: {error}"
                _log(self._failure)


#: Functions to call in a forked child, for modules that keep connections of the parent.
fork_hooks: list[Callable[[], None]] = []


def _ended_early(status: int) -> str:
    # A Node with an exit status has already printed the reason on standard error.
    return "" if status > 0 else f"waymark: Node ended before it was ready ({_how(status)})"


def _how(status: int) -> str:
    return f"status {status}" if status >= 0 else f"signal {-status}"


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


_shared: Bridge | None = None


def shared_bridge() -> Bridge:
    """The bridge of this process, with its Node ready. Ends the process if Node cannot start."""
    global _shared  # noqa: PLW0603
    if _shared is None:
        _shared = Bridge()
    try:
        _shared.start()
    except StartError as error:
        text = str(error)
        if text:
            _log(text if text.startswith("waymark:") else f"waymark: {text}")
        # gunicorn and other servers stop if a worker exits with this status.
        raise SystemExit(3) from None
    return _shared
