"""A class on one machine: students and a teacher, each with a JupyterLab of their own, and a curator that runs as nobody of them.

README.md beside this file says how it is put up. What differs between machines stands at the top.
"""

import os
from pathlib import Path

HERE = Path(__file__).parent
SERVICE = "https://127.0.0.1:8443"  # where the curator listens, as its curator.toml says
AUTHORITY = "/etc/dpnb-class/host.pem"  # the certificate that it shows
TEACHERS = {"teacher"}
STUDENTS = [
    name
    for line in (HERE / "students.txt").read_text().splitlines()
    if (name := line.partition("#")[0].strip())
]

c = get_config()

# who may log in: accounts of this machine (PAM); another authenticator of JupyterHub does as well
c.Authenticator.allowed_users = {*STUDENTS, *TEACHERS}
c.JupyterHub.load_groups = {"class-1": {"users": [*STUDENTS, *TEACHERS]}}

# what the curator calls them: a user is hub/NAME, a group keeps its name, and these are what a token allows
c.JupyterHub.custom_scopes = {
    "custom:dpnb:release": {"description": "Ask protected datasets"},
    "custom:dpnb:instruct": {"description": "Read what their classes were charged and answered"},
    "custom:dpnb:audit": {"description": "Read every entry of their ledgers"},
}
c.JupyterHub.services = [{"name": "dpnb"}]
ASK = ["access:services!service=dpnb", "custom:dpnb:release"]
c.JupyterHub.load_roles = [
    {"name": "user", "scopes": ["self", *ASK]},
    {"name": "teacher", "scopes": ["custom:dpnb:instruct", "custom:dpnb:audit"], "users": sorted(TEACHERS)},
    # the token in a kernel: it asks the curator as its user, and never more than the user may
    {
        "name": "server",
        "scopes": [
            "users:activity!user",
            "access:servers!server",
            "read:users:groups!user",
            "custom:dpnb:instruct",
            "custom:dpnb:audit",
            *ASK,
        ],
    },
]

# a kernel finds the curator by these two, and needs no token of its own
c.Spawner.environment = {"DPNB_SERVICE": SERVICE, "DPNB_CA": AUTHORITY}
c.Spawner.default_url = "/lab"

c.JupyterHub.bind_url = os.environ.get("CLASS_URL", "http://127.0.0.1:8000")  # behind a proxy that encrypts
