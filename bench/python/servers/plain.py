"""The response of `controllers.ts` from plain Python."""

BODY = b'"Default handler"'
TYPE = "application/json; charset=utf-8"


async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    headers = [
        (b"content-type", TYPE.encode()),
        (b"content-length", str(len(BODY)).encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})


def wsgi(environ, start_response):
    headers = [("content-type", TYPE), ("content-length", str(len(BODY)))]
    start_response("200 OK", headers)
    return [BODY]
