"""A look at the class on this machine (`make class`): a Hub, its proxy and a curator, all of them as you.

It shows what students and teacher see, and protects nothing: the curator runs as whoever asks it. README.md puts up the real one.
"""

import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
CONFIG = """
load_subconfig({config!r})
from jupyterhub.spawner import SimpleLocalProcessSpawner

c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = {password!r}
c.JupyterHub.spawner_class = SimpleLocalProcessSpawner
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r} + "/{{username}}"
c.JupyterHub.bind_url = {url!r}
c.JupyterHub.hub_bind_url = {hub!r}
c.ConfigurableHTTPProxy.command = {proxy!r}
c.ConfigurableHTTPProxy.api_url = {proxy_api!r}
c.JupyterHub.db_url = "sqlite:///" + {folder!r} + "/hub.sqlite"
c.JupyterHub.cookie_secret_file = {folder!r} + "/cookie_secret"
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser"]
c.Spawner.args = {args!r}
c.Spawner.environment = {{"DPNB_SERVICE": {service!r}}}
"""


def free_port() -> int:
    """Ask the system for a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def proxy() -> list[str]:
    """Return how the Hub's proxy is started: the one beside the front end's tools, or an installed one."""
    beside = HERE.parents[2] / "labextension/node_modules/configurable-http-proxy/bin/configurable-http-proxy"
    node, installed = shutil.which("node"), shutil.which("configurable-http-proxy")
    if node and beside.is_file():
        return [node, str(beside)]
    if installed is None:
        sys.exit("The Hub needs its proxy: npm install -g configurable-http-proxy.")
    return [installed]


def arguments() -> list[str]:
    """Return what a student's server is started with: the front end as it was built in this checkout, where it was."""
    built = HERE.parents[2] / "labextension" / "dist"
    found = [f"--LabApp.extra_labextensions_path={built}"] if built.is_dir() else []
    return [*found, "--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else found


def served(folder: Path, hub: str, port: int) -> Path:
    """Write the curator's file: that of the class, on a port of this machine that nobody else listens on."""
    text = (HERE / "curator.toml").read_text()
    text = re.sub(
        r"^listen = .*$", f'listen = "127.0.0.1:{port}"\nbehind_proxy = true', text, flags=re.MULTILINE
    )
    text = re.sub(r"^(certificate|key) = .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^api = .*$", f'api = "{hub}/hub/api"', text, flags=re.MULTILINE)
    path = folder / "curator.toml"
    path.write_text(text)
    return path


def main() -> int:
    """Start everything, say where to look, and end with whoever started it."""
    url, hub, proxy_api = (f"http://127.0.0.1:{free_port()}" for _ in range(3))
    port, password = free_port(), secrets.token_urlsafe(6)
    with tempfile.TemporaryDirectory(prefix="dpnb-class-") as name:
        folder = Path(name)
        facts = {
            "config": str(HERE / "jupyterhub_config.py"),
            "password": password,
            "homes": str(folder / "homes"),
            "url": url,
            "hub": hub,
            "proxy": proxy(),
            "proxy_api": proxy_api,
            "folder": name,
            "python": sys.executable,
            "args": arguments(),
            "service": f"http://127.0.0.1:{port}",
        }
        (folder / "jupyterhub_config.py").write_text(CONFIG.format(**facts))
        curator = [sys.executable, "-m", "dpnb", "serve", "--config", str(served(folder, hub, port))]
        commands = [curator, [sys.executable, "-m", "jupyterhub", "-f", str(folder / "jupyterhub_config.py")]]
        with (folder / "log").open("w") as log:
            running = [subprocess.Popen(one, cwd=folder, stdout=log, stderr=log) for one in commands]
        try:
            if not up(f"{url}/hub/login", running):
                print((folder / "log").read_text()[-3000:], file=sys.stderr)
                return 1
            print(f"The class: {url}   log in as ada, ben or teacher, with the password {password}")
            print(
                'In a notebook: import dpnb; dpnb.open("incentives").   Everything runs as you: a look, and no boundary.'
            )
            print("Ctrl+C ends it.", flush=True)
            running[1].wait()
        except KeyboardInterrupt:
            pass
        finally:
            for one in reversed(running):
                one.terminate()
            for one in running:
                one.wait()
    return 0


def up(url: str, running: list["subprocess.Popen[bytes]"]) -> bool:
    """Wait until a page answers, or a process has ended: a busy machine takes minutes."""
    end = time.monotonic() + 600
    while time.monotonic() < end and all(one.poll() is None for one in running):
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - of this machine
                return True
        except OSError:
            time.sleep(0.2)
    return False


if __name__ == "__main__":
    sys.exit(main())
