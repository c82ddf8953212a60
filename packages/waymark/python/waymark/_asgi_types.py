"""The types of ASGI 3, as loose as in the specification."""

from __future__ import annotations

from collections.abc import Awaitable, MutableMapping
from typing import Any, Callable

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
