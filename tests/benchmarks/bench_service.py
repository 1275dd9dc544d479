"""What a release costs a service, over TLS with owner's tokens: ``python -m tests.benchmarks.bench_service --analysts 200 --seconds 60``.

Analysts are processes of their own (:mod:`tests.benchmarks.analysts`), each with a connection and a life-line. Processor time is
the service's own, as the system counts it; rates and waits are of the clock. With ``--caps`` the caps of tokens, principals,
groups and the dataset are reached on the way, and the ledger is added up by itself: nothing is overspent by one unit.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import itertools
import json
import sqlite3
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import trustme

from dpnb.client.priced_batch import batch_of
from dpnb.planner.request import Ask
from dpnb.trusted.serving.hub import Hub
from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.messages import Hello
from dpnb.trusted.wire.transport import MESSAGES
from tests.benchmarks.measuring import load, processor
from tests.serving.conftest import CONFIG, ROOT, Running, write_people

PLANS = 100
EACH = "0.001"
"""What a release costs."""


@dataclass(frozen=True, slots=True)
class Rate:
    """What was measured.

    Parameters
    ----------
    seconds : float
        Of the clock, from the first answer to the last.
    processor : float
        Seconds of the service's processor time.
    waits : list of float
        Seconds that each release took its analyst.
    refused : dict
        How many were refused, by code.
    """

    seconds: float
    processor: float
    waits: list[float]
    refused: dict[str, int]

    @property
    def rate(self) -> float:
        """Releases in a second."""
        return len(self.waits) / self.seconds

    def __str__(self) -> str:
        ends = statistics.quantiles(self.waits, n=20)
        refused = f"; refused {self.refused}" if self.refused else ""
        return (
            f"{len(self.waits)} releases in {self.seconds:.1f} s: {self.rate:.0f}/s, "
            f"{1000 * self.processor / len(self.waits):.2f} ms of processor each; an analyst waits {1000 * ends[9]:.0f} ms, "
            f"one in twenty more than {1000 * ends[18]:.0f} ms{refused}"
        )


def service(
    folder: Path, rows: int, budget: str = "1000000", each: str = "", program: Sequence[str] = ("-m", "dpnb")
) -> Running:
    """Start a service on so many rows, whose answers wait for no bucket."""
    authority = trustme.CA()
    host = authority.issue_cert("localhost", "127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    host.private_key_pem.write_to_path(folder / "host.key")
    host.cert_chain_pems[0].write_to_path(folder / "host.pem")
    write_people(folder, rows)
    schema = folder / "people.dpnb.toml"
    schema.write_text(schema.read_text().replace("epsilon = 3", f"epsilon = {budget}"))
    (folder / "curator.toml").write_text(CONFIG.format(port=0, each=each, more=""))
    return Running(folder, program=tuple(program)).start()


def composed(running: Running) -> list[tuple[str, str]]:
    """Return the digest and the plan of questions as a kernel sends them, each measured afresh."""
    with pytest.MonkeyPatch.context() as patch:
        session = running.session(running.token("composer"), patch)
        people = session.open_served("people")
        asked = [
            batch_of([people.age.clip(0, 1 + turn).sum()], Ask.make(epsilon=EACH, fresh=True))
            for turn in range(PLANS)
        ]
        session.close()
    return [(one.digest, one.text) for one in asked]


@contextlib.contextmanager
def at_work(
    running: Running,
    tokens: Sequence[str],
    seconds: float,
    processes: int,
    plans: Sequence[tuple[str, str]] | None = None,
    pause: float = 0,
) -> Iterator[list[Any]]:
    """Begin with analysts that are ready and rest between two releases; the list fills with what each process saw when the block ends."""
    plans, started, seen = plans or composed(running), [], list[Any]()
    for number in range(processes):
        job = running.folder / f"job-{number}.json"
        facts = {"url": running.url, "authority": str(running.folder / "ca.pem"), "dataset": "people"}
        facts |= {
            "tokens": list(tokens[number::processes]),
            "plans": plans,
            "seconds": seconds,
            "pause": pause,
        }
        job.write_text(json.dumps(facts))
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "tests.benchmarks.analysts", str(job)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=ROOT,
                text=True,
            )
        )
    for one in started:
        assert one.stdout.readline() == "ready\n"
    for one in started:
        one.stdin.write("go\n")
        one.stdin.flush()
    yield seen
    seen += [json.loads(one.communicate()[0]) for one in started]


def rate(
    running: Running,
    tokens: Sequence[str],
    seconds: float,
    processes: int = 1,
    plans: Sequence[tuple[str, str]] | None = None,
) -> Rate:
    """Let analysts release sums, one after another each, for so many seconds."""
    with at_work(running, tokens, seconds, processes, plans) as seen:
        used = processor(running.process.pid)
    used = processor(running.process.pid) - used
    ends = [end for one in seen for end in one["ends"]]
    refused: Counter[str] = sum((Counter(one["refused"]) for one in seen), Counter())
    waits = [wait for one in seen for wait in one["waits"]]
    return Rate(max(ends) - min(ends), used, waits, dict(refused))


@contextlib.contextmanager
def running(rows: int, **facts: Any) -> Iterator[Running]:
    """Start a service of its own, and end it."""
    with tempfile.TemporaryDirectory() as folder:
        made = service(Path(folder), rows, **facts)
        try:
            yield made
        finally:
            made.kill()


def measured(options: argparse.Namespace, program: Sequence[str] = ("-m", "dpnb")) -> Rate:
    """Measure a service with owner's tokens."""
    with running(options.rows, program=program) as made:
        tokens = [made.token(f"a{place}") for place in range(options.analysts)]
        return rate(made, tokens, options.seconds, options.processes)


# caps ------------------------------------------------------------------------------------------------------------


def held(options: argparse.Namespace) -> None:
    """Let caps of every kind be reached, add the ledger up by itself, and print both."""
    n = options.analysts
    unit, most = Fraction(EACH), 100 * options.seconds  # charges that a busy machine makes, too
    token, each = (unit * max(1, int(share * most / n)) for share in (0.3, 0.6))
    group, whole = (unit * int(share * most) for share in (0.06, 0.3))
    groups = {f"class-{name}": group for name in range(4)}
    facts = ", ".join(f"{name} = {{ epsilon = {float(cap):g} }}" for name, cap in groups.items())
    said = f"each = {{ epsilon = {float(each):g} }}\ngroups = {{ {facts} }}"
    with running(options.rows, budget=f"{float(whole):g}", each=said) as made:
        tokens, who = [], {}
        for place in range(n):
            mine = f"{float(token):g}" if place % 4 == 3 else None
            kept = (f"class-{place % 5}",) if place % 5 < 4 else ()
            tokens.append(made.token(f"a{place}", groups=kept, epsilon=mine))
            who[f"a{place}"] = (kept, token if mine else None)
        print(f"with caps: {rate(made, tokens, options.seconds, options.processes)}")
        made.kill()
        spent = added_up(made.folder / "home" / "ledger.sqlite3")
        made.start()
    caps = {"the dataset": whole, **{f"group/{name}": cap for name, cap in groups.items()}}
    caps |= dict.fromkeys(who, each)
    caps |= {f"token of {name}": cap for name, (_, cap) in who.items() if cap is not None}
    spent |= {f"token of {name}": spent.get(name, Fraction()) for name, (_, cap) in who.items() if cap}
    over = {name: spent[name] - cap for name, cap in caps.items() if spent.get(name, 0) > cap}
    full = Counter(
        "dataset" if name == "the dataset" else "principals" if name in who else name.split("/")[0].split()[0]
        for name, cap in caps.items()
        if cap - spent.get(name, Fraction()) < unit
    )
    print(f"{len(caps)} caps, reached to the last unit: {dict(full)}; overspent: {over or 'none'}")
    assert not over


def added_up(ledger: Path) -> dict[str, Fraction]:
    """Add up a ledger's charges by itself: of all, of each principal and of each group."""
    sums: defaultdict[str, Fraction] = defaultdict(Fraction)
    with contextlib.closing(sqlite3.connect(f"{ledger.as_uri()}?mode=ro", uri=True)) as db:
        for (text,) in db.execute("SELECT body FROM entries WHERE kind = 'charge'"):
            body = json.loads(text)
            shares = [name for name in body.get("shares", ()) if name.startswith("group/")]
            for name in ("the dataset", body["principal"], *shares):
                sums[name] += Fraction(body["loss"]["amount"])
    return sums


# a slow disk -----------------------------------------------------------------------------------------------------


def synced(options: argparse.Namespace) -> None:
    """Compare with and without groups where each sync takes so many milliseconds more."""
    rates = []
    for words, more in (("together", ()), ("each by itself", ("--alone",))):
        program = ("-m", "tests.benchmarks.slow_disk", f"{options.sync:g}", *more)
        rates.append(measured(options, program))
        print(f"syncs of {options.sync:g} ms more, {words}: {rates[-1]}")
    print(f"together / each by itself: {rates[0].rate / rates[1].rate:.2f}")


# a Hub -----------------------------------------------------------------------------------------------------------


class FakeHub(ThreadingHTTPServer):
    """Says of every token that it is a user's, after so many seconds."""

    request_queue_size = 512
    daemon_threads = True

    def __init__(self, delay: float) -> None:
        super().__init__(("127.0.0.1", 0), _Says)
        self.delay, self.asked = delay, itertools.count()

    @property
    def api(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}/hub/api"


class _Says(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        hub: Any = self.server
        next(hub.asked)
        time.sleep(hub.delay)
        name = self.headers["Authorization"].split()[-1]
        scopes = ["access:services!service=dpnb", "custom:dpnb:release"]
        body = json.dumps({"kind": "user", "name": name, "scopes": scopes, "groups": []}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def through_a_hub(options: argparse.Namespace) -> None:
    """Measure with tokens of a Hub that thinks for so many milliseconds, beside the Hub's own rate."""
    hub = FakeHub(options.hub / 1000)
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    alone = hubs_own(hub)
    before = next(hub.asked)
    with running(options.rows, each=f'[hub]\napi = "{hub.api}"\nservice = "dpnb"') as made:
        plans = composed(made)
        tokens = [f"user-{place}" for place in range(options.analysts)]
        found = rate(made, tokens, options.seconds, options.processes, plans)
        checks = next(hub.asked) - before - 1
        print(f"through a Hub that thinks {options.hub:g} ms: {found}")
        print(
            f"the Hub answers {alone:.0f} checks/s by itself; {checks / found.seconds:.0f}/s here, "
            f"{checks / len(found.waits):.1f} for each release"
        )
        before, asked = next(hub.asked), 480
        at_once(made, "one-token", asked)
        print(f"{asked} requests of one token, 24 at once: {next(hub.asked) - before - 1} checks")


def hubs_own(hub: FakeHub, seconds: float = 3.0) -> float:
    """Return how many checks a Hub answers in a second, 32 at once as the service asks."""
    asks, end, done = Hub(hub.api, "dpnb"), time.monotonic() + seconds, itertools.count()

    def ask() -> None:
        while time.monotonic() < end:
            asks._get("nobody")
            next(done)

    with ThreadPoolExecutor(32) as pool:
        for _ in range(32):
            pool.submit(ask)
    return next(done) / seconds


def at_once(made: Running, token: str, asked: int) -> None:
    """Send so many small requests of one token on 24 connections."""
    context = ssl.create_default_context(cafile=str(made.folder / "ca.pem"))
    at = urlsplit(made.url)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def some() -> None:
        with contextlib.closing(http.client.HTTPSConnection(at.hostname, at.port, context=context)) as line:
            for _ in range(asked // 24):
                line.request("POST", MESSAGES, encode(Hello()), headers)
                assert b"welcome" in line.getresponse().read()

    with ThreadPoolExecutor(24) as pool:
        for one in [pool.submit(some) for _ in range(24)]:
            one.result()


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analysts", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=1, help="of analysts")
    parser.add_argument("--caps", action="store_true", help="let caps of every kind be reached, and add up")
    parser.add_argument("--sync", type=float, help="milliseconds that each sync takes longer")
    parser.add_argument("--hub", type=float, help="milliseconds that a Hub thinks, whose tokens are used")
    options = parser.parse_args()
    print(f"{load()}, {options.analysts} analysts")
    if options.caps:
        held(options)
    elif options.sync is not None:
        synced(options)
    elif options.hub is not None:
        through_a_hub(options)
    else:
        print(measured(options))


if __name__ == "__main__":
    main()
