"""A bare tornado handler over TLS, in a process of its own: it reads a body, answers as many bytes, and does nothing else.

What a service takes beyond it is dpnb's. Run by ``bench_service.py --floor``.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from pathlib import Path

import tornado.httpserver
import tornado.netutil
import tornado.web

from dpnb.trusted.wire.transport import HOLD, MESSAGES

OPENED = b'{"is":"attached","handle":"bare"}'
ANSWERED = b'{"is":"answered","releases":"%s"}' % (b"0" * 700)


class Bare(tornado.web.RequestHandler):
    """Answers."""

    def post(self) -> None:
        """Answer at once."""
        self.finish(OPENED if b'"is":"open"' in self.request.body[:20] else ANSWERED)


class Held(tornado.web.RequestHandler):
    """A line that stays open."""

    async def post(self) -> None:
        """Send the head, and wait."""
        await self.flush()
        await asyncio.Event().wait()


async def main(folder: Path) -> None:
    """Listen with a certificate until somebody ends the process."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "host.pem", folder / "host.key")
    routes = [(MESSAGES, Bare), (HOLD, Held)]
    application = tornado.web.Application(routes, log_function=lambda _: None)
    server = tornado.httpserver.HTTPServer(application, ssl_options=context)
    listener = tornado.netutil.bind_sockets(0, "127.0.0.1")[0]
    server.add_socket(listener)
    print(listener.getsockname()[1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
