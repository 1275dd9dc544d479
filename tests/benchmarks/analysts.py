"""Analysts in processes of their own: each holds a life-line and releases one question after another over TLS.

They send what a kernel sends, composed once: so the machine measures the service, and as little as may be of its analysts.
Run by ``bench_service.py``.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import ssl
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.messages import Open
from dpnb.trusted.wire.transport import HOLD, MESSAGES


@dataclass
class Seen:
    """What analysts saw: seconds of each answer with the second in which it came, and refusals by their code."""

    waits: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)


class Line:
    """One connection to a service."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        self._reader, self._writer, self._head = reader, writer, head

    @classmethod
    async def to(cls, url: str, authority: str, token: str) -> Line:
        """Connect."""
        at, context = urlsplit(url), ssl.create_default_context(cafile=authority)
        reader, writer = await asyncio.open_connection(at.hostname, at.port, ssl=context, limit=2**22)
        head = f"Host: {at.hostname}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        return cls(reader, writer, head.encode())

    async def ask(self, body: bytes) -> bytes:
        """Send a message; return the reply."""
        self._send(MESSAGES, body)
        told = await self._reader.readuntil(b"\r\n\r\n")
        length = next(one for one in told.lower().split(b"\r\n") if one.startswith(b"content-length:"))
        return await self._reader.readexactly(int(length.split(b":")[1]))

    async def hold(self) -> int:
        """Hold a life-line until the service ends or this is cancelled; return how many bytes of news came."""
        self._send(HOLD, b"")
        await self._reader.readuntil(b"\r\n\r\n")
        heard = 0
        while news := await self._reader.read(4096):
            heard += len(news)
        return heard

    def _send(self, path: str, body: bytes) -> None:
        start = b"POST %s HTTP/1.1\r\nContent-Length: %d\r\n" % (path.encode(), len(body))
        self._writer.write(start + self._head + b"\r\n" + body)


async def analyst(
    job: dict[str, Any], token: str, seen: Seen, arriving: asyncio.Semaphore, ready: asyncio.Barrier
) -> None:
    """Open the dataset, hold a life-line, and release until the time is over."""
    async with arriving:
        line = await Line.to(job["url"], job["authority"], token)
        opened = json.loads(await line.ask(encode(Open(name=job["dataset"]))))
        held = asyncio.create_task((await Line.to(job["url"], job["authority"], token)).hold())
    body = f'{{"is":"submit","handle":"{opened["handle"]}","request":"%s","digest":"%s","plan":%s}}'
    await ready.wait()
    await asyncio.sleep(secrets.randbelow(1000) / 1000)
    end, turn = time.monotonic() + job["seconds"], secrets.randbelow(len(job["plans"]))
    while time.monotonic() < end:
        digest, plan = job["plans"][turn % len(job["plans"])]
        turn += 1
        await asyncio.sleep(job["pause"])
        before = time.monotonic()
        reply = await line.ask((body % (secrets.token_hex(16), digest, plan)).encode())
        if b'"is":"answered"' in reply[:40]:
            seen.waits.append(time.monotonic() - before)
            seen.ends.append(time.monotonic())
        else:
            code = json.loads(reply).get("code", "?")
            seen.refused[code] = seen.refused.get(code, 0) + 1
            await asyncio.sleep(0.5)
    held.cancel()


async def main(job: dict[str, Any]) -> Seen:
    """Let the analysts of one process work: they say that they are ready, and wait for a line on standard input."""
    seen, ready = Seen(), asyncio.Barrier(len(job["tokens"]) + 1)
    arriving = asyncio.Semaphore(8)  # a service hangs up on strangers beyond some dozens
    tasks = [asyncio.create_task(analyst(job, token, seen, arriving, ready)) for token in job["tokens"]]
    while ready.n_waiting < len(tasks):
        await asyncio.sleep(0.05)
        for one in tasks:
            if one.done():
                one.result()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await ready.wait()
    await asyncio.gather(*tasks)
    return seen


if __name__ == "__main__":
    found = asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
    print(json.dumps({"waits": found.waits, "ends": found.ends, "refused": found.refused}))
