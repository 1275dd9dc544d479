"""A class on a real JupyterHub: three users of the operating system, and a service of a fourth that holds what they ask.

The tour runs in kernels of two of them, changed in one line; they collude, and stop at the cap of their class; neither reaches
what the service or the Hub holds; a third reads what they exported.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser import hub as hubs
from tests.browser.conftest import PATIENCE, ROOT, Lab, fresh

pytestmark = pytest.mark.skipif(not hubs.can_start(), reason="only root can start servers of other users")
OPENED = 'hiv = dpnb.open("incentives")'
SPEND = """
import json
spent = []
for place in range(40):
    question = hiv.age.clip({low}, 30 + place).sum()
    try:
        spent.append(str(dpnb.release([question], epsilon="0.05").charged.amount))
    except Exception as refusal:
        spent.append(f"{{type(refusal).__name__}}: {{refusal}}")
print(json.dumps(spent))
"""
REACH = """
import ctypes, json, os
def tried(act):
    try:
        act()
    except OSError as error:
        return type(error).__name__
    return "reached"
def memory():
    libc, own = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(8)
    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    mine, theirs = Part(ctypes.addressof(own), 8), Part(0x400000, 8)
    if libc.process_vm_readv({pid}, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0) < 0:
        raise OSError(ctypes.get_errno(), "")
def attach():
    if ctypes.CDLL(None, use_errno=True).ptrace(16, {pid}, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "")
def opened(path):
    return lambda: open(path, "rb").read(1)
acts = {{path: opened(path) for path in {paths!r}}}
acts |= {{folder: (lambda folder=folder: os.listdir(folder)) for folder in {folders!r}}}
acts |= {{"memory": memory, "attach": attach, "signal": lambda: os.kill({pid}, 0)}}
print(json.dumps({{name: tried(act) for name, act in acts.items()}}))
"""


@pytest.fixture(scope="module")
def hub():
    """A Hub with its proxy, and a service beside it."""
    running = hubs.RunningHub()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def kernels(hub):
    """A kernel of each of two users, started at once."""
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(("ada", "ben"), pool.map(hub.kernel, ("ada", "ben")), strict=True))


@pytest.fixture(scope="module")
def teacher(hub):
    """A kernel of the teacher."""
    return hub.kernel("teacher")


def ran(kernel, code):
    """What a cell printed; it must not fail."""
    outcome = kernel.run(code)
    assert not outcome.error, outcome.error
    return outcome.text


def tour_of(kernel):
    """The tour's cells, one line changed; what each said."""
    cells = [
        cell
        for cell in nbformat.read(ROOT / "notebooks" / "00-tour.ipynb", 4).cells
        if cell.cell_type == "code"
    ]
    changed = [cell.source.replace('hiv = dpnb.open("hiv", mode="guard-rail")', OPENED) for cell in cells]
    assert sum(was.source != now for was, now in zip(cells, changed, strict=True)) == 1
    return [kernel.run(code) for code in changed]


def test_the_tour_runs_as_two_users_in_kernels_of_their_own(hub, kernels):
    """Each cell as embedded: the cell that asks for too much is the one refusal, and the report is written."""
    with ThreadPoolExecutor(2) as pool:
        said = dict(zip(kernels, pool.map(tour_of, kernels.values()), strict=True))
    for name, outcomes in said.items():
        assert [one.error.split(":")[0] for one in outcomes if one.error] == ["BudgetError"]
        assert f"You ask as hub/{name}, in the group {hubs.CLASS}" in outcomes[0].text
        assert "ENFORCED" in outcomes[0].text
        assert int(ran(kernels[name], "import os; print(os.getuid())")) == hubs.USERS[name]
        assert (hub.folder / "homes" / name / "report.html").stat().st_uid == hubs.USERS[name]
    means = {name: float(ran(kernel, "print(float(collected))")) for name, kernel in kernels.items()}
    assert means["ada"] != means["ben"]  # noise of their own
    for mean in means.values():
        assert 0.65 < mean < 0.74


def test_a_students_kernel_reaches_nothing_of_the_service_or_the_hub(hub, kernels):
    """Each attempt is refused by the operating system: data, ledger, key, tokens, environment, memory; and Ben's home."""
    owner, own, pid = hub.folder / "owner", hub.folder / "own", hub.service.pid
    assert (owner / "home" / "ledger.sqlite3").exists()
    paths = [
        *(owner / name for name in ("curator.toml", "host.key")),
        *(owner / "home" / name for name in ("ledger.sqlite3", "key", "mark-of-ledger")),
        *(owner / "home" / "prepared").iterdir(),
        *(own / name for name in ("hub.sqlite", "cookie_secret", "jupyterhub_config.py")),
        *(f"/proc/{pid}/{name}" for name in ("environ", "mem", "maps")),
    ]
    folders = [owner, owner / "home", own, hub.folder / "homes" / "ben", f"/proc/{pid}/fd"]
    assert len(paths) > 10
    code = REACH.format(pid=pid, paths=[str(path) for path in paths], folders=[str(path) for path in folders])
    said = json.loads(ran(kernels["ada"], code))
    assert set(said.values()) == {"PermissionError"}, said


def test_the_class_in_collusion_stops_at_its_cap(hub, kernels):
    """Two who loop at once: what they were charged together, tour and loops, is the cap to the last digit."""
    with ThreadPoolExecutor(2) as pool:
        codes = [SPEND.format(low=place) for place in range(2)]
        said = list(pool.map(lambda kernel, code: json.loads(ran(kernel, code)), kernels.values(), codes))
    refused = [text for spent in said for text in spent if ":" in text]
    assert refused
    assert all(f"what its owner lets the group {hubs.CLASS} spend, 3.8" in text for text in refused)
    assert all("0 is left" in text for text in refused)
    spent = "from fractions import Fraction; print(sum(Fraction(row['loss']['amount']) for row in hiv.session.ledger(hiv) if row['kind'] == 'charge'))"
    mine = [Fraction(ran(kernel, spent).strip()) for kernel in kernels.values()]
    assert sum(mine) == Fraction("3.8")
    assert max(mine) <= 3


def test_a_third_user_reads_the_wall_of_what_two_exported(hub, kernels, teacher):
    """From files that they copied into one folder, without asking the service anything."""
    for name, kernel in kernels.items():
        ran(kernel, f"collected.to_json({str(hub.folder / 'shared' / name)!r} + '.json')")
    wall = f"import dpnb, json; wall = dpnb.widgets.wall({str(hub.folder / 'shared')!r}); print(json.dumps(wall.facts))"
    facts = json.loads(ran(teacher, wall))
    assert sorted(row["who"] for row in facts["answers"]) == ["ada", "ben"]
    assert facts["average"] is not None


def test_the_teachers_wall_shows_what_the_class_was_answered(hub, kernels, teacher):
    """By the scope `instruct` and the group that the Hub names, as it comes, and without a file; the same numbers that the two hold."""
    look = (
        f"import dpnb, json; {OPENED}\nwall = dpnb.widgets.wall(hiv.got.mean())\n"
        "for _ in range(5):\n    wall.refresh()\n"
        "print(json.dumps([[row['who'], row['value']] for row in wall.facts['answers']]))"
    )
    found = json.loads(ran(teacher, look).splitlines()[-1])
    for name, kernel in kernels.items():
        assert [f"hub/{name}", float(ran(kernel, "print(float(collected))"))] in found


def test_the_teacher_reads_every_entry_and_is_in_no_group(hub, kernels, teacher):
    """An auditor by the Hub's word: whose charges these are, and nobody's caps but their own."""
    ran(teacher, f"import dpnb; {OPENED}")
    who = "sorted({row['principal'] for row in hiv.session.ledger(hiv) if row['kind'] == 'charge'})"
    assert "['hub/ada', 'hub/ben']" in ran(teacher, f"print({who})")
    assert "You ask as hub/teacher. " in ran(teacher, "print(hiv.notes)")


@contextlib.contextmanager
def lab_of(hub, browser, shots, name, *cells):
    """A user logs in and opens a notebook of these cells in their own JupyterLab."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path = hub.folder / "homes" / name / "class.ipynb"
    nbformat.write(notebook, path)
    os.chown(path, hubs.USERS[name], hubs.USERS[name])
    page = fresh(browser)
    page.goto(f"{hub.url}/hub/login?next=/user/{name}/lab/tree/class.ipynb")
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", hubs.PASSWORD)
    page.click("input[type=submit]")
    page.wait_for_function(
        "window.jupyterapp?.shell?.currentWidget?.sessionContext !== undefined", timeout=PATIENCE
    )
    lab = Lab(page, hub, shots)
    lab.settled()
    yield lab
    page.context.close()
    assert lab.errors == []


def test_card_gauge_price_and_panel_in_a_lab_of_the_hub(hub, kernels, browser, shots):
    """Ben sees as whom he asks, for which class and what is left; what a cell costs while he types it; and his budget beside."""
    cells = ["import dpnb\n%load_ext dpnb", OPENED, "%%dp epsilon=0.3\ncollected = hiv.got.mean()", ""]
    with lab_of(hub, browser, shots, "ben", *cells) as lab:
        page = lab.page
        lab.run_all()
        outputs = page.locator(".jp-OutputArea")
        outputs.get_by_text("ENFORCED").first.wait_for()
        outputs.get_by_text(f"in the group {hubs.CLASS}").first.wait_for()
        outputs.get_by_text("noise costs").first.wait_for()
        gauge, panel, tag = (
            page.locator(".dpnb-Gauge"),
            page.locator("#dpnb-panel"),
            lab.cell(3).locator(".dpnb-Tag"),
        )
        expect(gauge).to_contain_text(re.compile(r"hiv: ε [\d.]+ of"))
        lab.cell(3).locator(".cm-content").click()
        for typed, price in (
            ("%%dp epsilon=0.0625\nolder = hiv.age.mean()", "ε 0.0625"),
            (" * 2", "ε 0.0625"),
        ):
            page.keyboard.type(typed)
            expect(tag).to_contain_text(price)
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("%%dp epsilon=0.3\nsame = hiv.got.mean()")
        expect(tag).to_contain_text("free")
        lab.shot("hub-lab")
        gauge.click()
        expect(panel).to_be_visible()
        expect(panel).to_contain_text("hiv.got.mean()")
        lab.shot("hub-lab-panel")


def test_the_wall_in_a_lab_of_the_hub(hub, kernels, teacher, browser, shots):
    """The teacher runs one line, and it fills with what the class was answered, each answer a dot with its interval."""
    with lab_of(
        hub, browser, shots, "teacher", "import dpnb", OPENED, "dpnb.widgets.wall(hiv.got.mean())"
    ) as lab:
        lab.run_all()
        wall = lab.output(2)
        for name in ("ada", "ben"):
            expect(wall.locator("svg.wall g > title", has_text=f"hub/{name}").first).to_be_attached()
        expect(wall.locator("svg.wall .mean")).to_have_count(1)
        lab.shot("hub-lab-wall")


def test_a_look_at_the_class_starts_and_ends(tmp_path):
    """What `make class` starts: the page to log in, the password in print, and nothing left."""
    # a shell that runs these tests behind it has SIGINT ignored, by what it starts too
    look = ["env", "--default-signal=INT", sys.executable, str(hubs.RECIPE / "look.py")]
    running = subprocess.Popen(
        look, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    with running, contextlib.closing(running.stdout):
        try:
            said = running.stdout.readline()
            with urllib.request.urlopen(said.split()[2] + "/hub/login") as page:  # noqa: S310 - of this machine
                assert "Sign in" in page.read().decode()
            running.send_signal(signal.SIGINT)
            assert running.wait(PATIENCE / 1000) == 0
        finally:
            running.terminate()  # or the block would wait for it for ever
    assert list(tmp_path.iterdir()) == []


def test_a_revoked_student_is_refused_at_the_next_request(hub, kernels):
    """The administrator deletes the token of Ben's server: what was stored for him is refused, and Ada goes on."""
    ask = "again = hiv.got.mean(); dpnb.release([again], epsilon=0.3); print(float(again))"
    assert float(ran(kernels["ben"], ask)) > 0
    hub.revoke("ben")
    refused = kernels["ben"].run(ask).error
    assert refused.startswith("AccessError")
    assert "Nothing was spent" in refused
    assert float(ran(kernels["ada"], ask)) > 0
