"""Runs controllers written in TypeScript for Waymark under any WSGI or ASGI server.

An import of ``waymark.asgi`` or ``waymark.wsgi`` starts a Node process that serves the requests
of this Python process and ends with it.
"""

__version__ = "0.1.0"
