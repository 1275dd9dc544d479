"""A real JupyterHub as `notebooks/deploy/class` puts it up, with its proxy, servers of users of the operating system, and a service of another one.

Users are numbers: nothing is added to the machine. Whoever starts it must be root; what other users cannot reach (an interpreter in
a private home, a checkout there) is linked to where they can.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme
import websocket

from tests.browser.conftest import ROOT, SETTINGS, START_SECONDS, free_port, others

CURATOR, USERS = 61_000, {"ada": 61_001, "ben": 61_002, "teacher": 61_003}
CLASS = "class-1"
RECIPE = ROOT / "notebooks" / "deploy" / "class"
PASSWORD = "of these tests alone"
CONFIG = """
import os
from jupyterhub.spawner import SimpleLocalProcessSpawner

load_subconfig({recipe!r})
FACTS = {facts!r}


class ByNumber(SimpleLocalProcessSpawner):
    home_dir_template = FACTS["homes"] + "/{{username}}"

    def make_preexec_fn(self, name):
        number = FACTS["users"][name]

        def become():
            os.setgroups([])
            os.setgid(number)
            os.setuid(number)
            os.umask(0o022)
            os.chdir(FACTS["homes"] + "/" + name)

        return become


c.JupyterHub.spawner_class = ByNumber
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = FACTS["password"]
c.JupyterHub.bind_url = FACTS["url"]
c.JupyterHub.hub_bind_url = FACTS["hub"]
c.ConfigurableHTTPProxy.command = FACTS["proxy"]
c.ConfigurableHTTPProxy.api_url = FACTS["proxy_api"]
c.JupyterHub.db_url = "sqlite:///" + FACTS["own"] + "/hub.sqlite"
c.JupyterHub.cookie_secret_file = FACTS["own"] + "/cookie_secret"
c.Spawner.cmd = [FACTS["python"], "-m", "jupyterhub.singleuser"]
c.Spawner.args = FACTS["args"]
c.Spawner.environment = FACTS["environment"]
c.Spawner.start_timeout = c.Spawner.http_timeout = 90
c.JupyterHub.services = [*c.JupyterHub.services, {{"name": "test", "api_token": FACTS["token"]}}]
administers = ["admin:users", "admin:groups", "admin:servers", "tokens", "access:servers"]
c.JupyterHub.load_roles = [*c.JupyterHub.load_roles, {{"name": "test", "scopes": administers, "services": ["test"]}}]
"""
SERVICE = """[service]
home = "home"
listen = "127.0.0.1:0"
certificate = "host.pem"
key = "host.key"
[hub]
api = "{hub}/hub/api"
[datasets.incentives]
study = "hiv"
each = {{ epsilon = 3 }}
groups = {{ {group} = {{ epsilon = 3.8 }} }}
"""


def can_start() -> bool:
    """Whether this process may become other users, and what runs the proxy is here."""
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("node") is not None


def _open_to_all(path: Path) -> bool:
    return all(one.stat().st_mode & 0o001 for one in (path, *path.parents))


class Reachable:
    """What other users must read, where they can: as it lies, or linked into a folder for them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, path: Path) -> Path:
        """Return where a folder can be read by everybody."""
        path = path.resolve()
        if _open_to_all(path):
            return path
        place = self._folder / f"{len(list(self._folder.iterdir()))}-{path.name}"
        ignored = shutil.ignore_patterns("__pycache__", "node_modules", ".venv*", ".git")
        shutil.copytree(path, place, symlinks=True, ignore=ignored, copy_function=_linked)
        return place


def _linked(source: str, place: str) -> str:
    try:
        os.link(source, place, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, place, follow_symlinks=False)
    return place


@dataclass
class Outcome:
    """What a cell said, and the name and words of its error."""

    text: str = ""
    error: str = ""


class Kernel:
    """A kernel of a user's server, spoken to through the Hub's proxy; on a line for each cell: a server hangs up on one that rests."""

    def __init__(self, url: str, token: str) -> None:
        self._head = {"Authorization": f"token {token}"}
        made = asked(f"{url}/api/kernels", token, {})
        self._address = f"{url}/api/kernels/{made['id']}/channels".replace("http", "ws", 1)
        self._session = secrets.token_hex(8)

    def run(self, code: str) -> Outcome:
        """Run a cell to its end."""
        line = websocket.create_connection(self._address, header=self._head, timeout=180)
        with contextlib.closing(line):
            return self._ran(line, code)

    def _ran(self, line: websocket.WebSocket, code: str) -> Outcome:
        id_ = secrets.token_hex(8)
        head = {
            "msg_id": id_,
            "msg_type": "execute_request",
            "username": "",
            "session": self._session,
            "version": "5.3",
            "date": "",
        }
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
        }
        line.send(
            json.dumps(
                {"header": head, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
            )
        )
        outcome, ends = Outcome(), set()
        while ends != {"execute_reply", "idle"}:
            message = json.loads(line.recv())
            if message["parent_header"].get("msg_id") != id_:
                continue
            self._note(message, outcome)
            kind, content = message["msg_type"], message["content"]
            ends |= {kind} & {"execute_reply"} | {content.get("execution_state")} & {"idle"}
        return outcome

    @staticmethod
    def _note(message: dict[str, Any], outcome: Outcome) -> None:
        content = message["content"]
        match message["msg_type"]:
            case "stream":
                outcome.text += content["text"]
            case "display_data" | "execute_result":
                outcome.text += content["data"].get("text/plain", "") + "\n"
            case "error":
                outcome.error = f"{content['ename']}: {content['evalue']}"


def asked(url: str, token: str, body: Any = None, method: str | None = None) -> Any:
    """Ask an API with a token; return what it says as JSON."""
    sent = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, sent, {"Authorization": f"token {token}"}, method=method)  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=120) as reply:  # noqa: S310
        said = reply.read()
    return json.loads(said) if said else None


class RunningHub:
    """A Hub, its proxy, and a service that asks it who asks."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dpnb-hub-"))
        self.folder.chmod(0o711)
        self.processes: list[subprocess.Popen[bytes]] = []
        self.token = secrets.token_hex(20)
        self._places()
        self._start_hub()
        self._start_service()

    def _places(self) -> None:
        reached = self.folder / "reached"
        for name in ("own", "homes", "reached", "owner", "shared"):
            (self.folder / name).mkdir()
        (self.folder / "own").chmod(0o700)
        (self.folder / "owner").chmod(0o700)
        os.chown(self.folder / "owner", CURATOR, CURATOR)
        (self.folder / "shared").chmod(0o1777)
        for name, number in USERS.items():
            home = self.folder / "homes" / name
            home.mkdir(mode=0o700)
            os.chown(home, number, number)
        reach = Reachable(reached)
        base = reach.of(Path(sys.base_prefix))
        self.python = base / "bin" / f"python3.{sys.version_info[1]}"
        self.libraries = str(base / "lib")  # its own, not those of another Python of this machine
        self.root, packages = reach.of(ROOT), reach.of(Path(sysconfig.get_path("purelib")))
        self.paths = f"{self.root}:{packages}"
        self.config = reached / "config"
        told = "jupyter_server_config.d/jupyterlab.json"  # and of nothing else that other tests need
        (self.config / told).parent.mkdir(parents=True)
        shutil.copy(Path(sys.prefix) / "etc" / "jupyter" / told, self.config / told)
        self.share = reach.of(Path(sys.prefix) / "share")
        self.static = others(reached / "labextensions")

    def _environment(self, home: Path) -> dict[str, str]:
        authority = self.folder / "ca.pem"
        return {
            "HOME": str(home),
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": self.paths,
            "LD_LIBRARY_PATH": self.libraries,
            "DPNB_CA": str(authority),
            "NO_PROXY": "127.0.0.1",
        }

    def _start_hub(self) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        self.hub, proxy = f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
        self.service_port = free_port()
        program = ROOT / "labextension/node_modules/configurable-http-proxy/bin/configurable-http-proxy"
        settings = self.folder / "settings"
        for name, value in SETTINGS.items():
            path = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value))
        facts = {
            "homes": str(self.folder / "homes"),
            "own": str(self.folder / "own"),
            "users": USERS,
            "password": PASSWORD,
            "url": self.url,
            "hub": self.hub,
            "proxy": [shutil.which("node"), str(program)],
            "proxy_api": proxy,
            "python": str(self.python),
            "token": self.token,
            "args": [
                f"--LabApp.app_dir={self.share / 'jupyter' / 'lab'}",
                f"--LabApp.extra_labextensions_path={self.root / 'labextension' / 'dist'}",
                f"--LabApp.labextensions_path={self.static}",
                f"--LabApp.user_settings_dir={settings}",
                "--LabApp.expose_app_in_browser=True",
            ],
            "environment": {
                "PYTHONPATH": self.paths,
                "LD_LIBRARY_PATH": self.libraries,
                "JUPYTER_CONFIG_PATH": str(self.config),  # which says that there is a JupyterLab
                "DPNB_SERVICE": f"https://127.0.0.1:{self.service_port}",
                "DPNB_CA": str(self.folder / "ca.pem"),
                "NO_PROXY": "127.0.0.1",
            },
        }
        config = self.folder / "own" / "jupyterhub_config.py"
        config.write_text(CONFIG.format(recipe=str(RECIPE / "jupyterhub_config.py"), facts=facts))
        with (self.folder / "own" / "hub.log").open("w") as log:
            self.processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "jupyterhub", "-f", str(config)],
                    cwd=self.folder / "own",
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )
        self._wait(lambda: asked(f"{self.url}/hub/api/", self.token))

    def _start_service(self) -> None:
        owner = self.folder / "owner"
        authority = trustme.CA()
        host = authority.issue_cert("127.0.0.1")
        authority.cert_pem.write_to_path(self.folder / "ca.pem")
        (self.folder / "ca.pem").chmod(0o644)
        host.private_key_pem.write_to_path(owner / "host.key")
        host.cert_chain_pems[0].write_to_path(owner / "host.pem")
        told = SERVICE.format(hub=self.hub, group=CLASS).replace(":0", f":{self.service_port}")
        (owner / "curator.toml").write_text(told)
        for one in owner.iterdir():
            os.chown(one, CURATOR, CURATOR)
            one.chmod(0o600)
        with (self.folder / "own" / "service.log").open("w") as log:
            self.service = subprocess.Popen(
                [str(self.python), "-m", "dpnb", "serve", "--config", str(owner / "curator.toml")],
                stdout=subprocess.PIPE,
                stderr=log,
                env=self._environment(owner),
                cwd=owner,
                user=CURATOR,
                group=CURATOR,
                extra_groups=[],
            )
        self.processes.append(self.service)
        if not self.service.stdout.readline():
            raise RuntimeError((self.folder / "own" / "service.log").read_text())

    def _wait(self, done: Any) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.processes[0].poll() is None:
            with contextlib.suppress(OSError):  # which a refusal of urllib is
                if done():
                    return
            time.sleep(0.2)
        raise RuntimeError((self.folder / "own" / "hub.log").read_text()[-3000:])

    def kernel(self, name: str) -> Kernel:
        """Start a user's server where it does not run, and a kernel in it."""
        return Kernel(f"{self.url}/user/{name}", self.server(name))

    def server(self, name: str) -> str:
        """Start a user's server where it does not run; return a token of theirs."""
        user = f"{self.hub}/hub/api/users/{name}"
        try:
            asked(user, self.token)
        except urllib.error.HTTPError:
            asked(user, self.token, {})
        if not asked(user, self.token)["server"]:
            asked(f"{user}/server", self.token, {})
        self._wait(lambda: asked(user, self.token)["server"])
        return str(asked(f"{user}/tokens", self.token, {"note": "these tests"})["token"])

    def revoke(self, name: str) -> None:
        """Delete every token of a user's server, as an administrator can."""
        tokens = f"{self.hub}/hub/api/users/{name}/tokens"
        for one in asked(tokens, self.token)["api_tokens"]:
            if one["note"] != "these tests":
                asked(f"{tokens}/{one['id']}", self.token, method="DELETE")

    def stop(self) -> None:
        """End everything, and leave nothing."""
        for name in USERS:
            try:
                asked(f"{self.hub}/hub/api/users/{name}/server", self.token, method="DELETE")
            except OSError:
                continue
        for one in reversed(self.processes):
            one.send_signal(signal.SIGTERM)
        self.service.stdout.close()
        for one in self.processes:
            try:
                one.wait(30)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
