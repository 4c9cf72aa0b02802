"""A real Chromium without a window, steered over a pipe by its own protocol: no driver and no
package in between.

Where there is none, the first use installs it if that is possible without asking (Debian or a
relative of it, as root), which takes a minute; elsewhere the tests that need it are skipped, and
say so. It ends with this process: the pipe closes.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.host import answer_when

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ANSWER_S = 60
_OPTIONS = (
    "--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--force-color-profile=srgb",
)  # fmt: skip
# Chromium reads commands from descriptor 3 and answers on 4. They are moved there by the process
# that it replaces.
_MOVE = """
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One Chromium with one page. `seen`: the events of the page since it was opened."""

    def __init__(self, program: str, profile: Path) -> None:
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        launch = [sys.executable, "-S", "-c", _MOVE, str(commands), str(answers), program]
        with (profile / "terminal.txt").open("wb") as terminal:
            self._process = subprocess.Popen(
                [*launch, *_OPTIONS, *sandbox, f"--user-data-dir={profile / 'profile'}",
                    "about:blank"],
                pass_fds=(commands, answers), stdout=terminal, stderr=terminal,
            )  # fmt: skip
        os.close(commands)
        os.close(answers)
        self._unread, self._number, self._session = b"", 0, ""
        self.seen: list[dict[str, Any]] = []
        self._new_page()

    def open(
        self,
        url: str,
        *,
        width: int = 1200,
        height: int = 900,
        scheme: str = "light",
        scripts: bool = True,
    ) -> None:
        """Load a page of its own, `width` CSS pixels wide. scheme: light or dark; scripts:
        whether the page may run any.
        """
        self._new_page()
        self.show(width, scheme, height=height)
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.seen.clear()
        loader = self.call("Page.navigate", url=url)["loaderId"]
        self.wait_for("Page.lifecycleEvent", name="load", loaderId=loader)

    def show(self, width: int, scheme: str, *, height: int = 900) -> None:
        """Let the page, as it is, be that wide, for a reader who prefers light or dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page, a promise's once it is kept.
        AssertionError when it throws.
        """
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def screenshot(self) -> bytes:
        """What the window would show now, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def wait_for(self, method: str, **wanted: Any) -> dict[str, Any]:
        """The parameters of the first event of this kind, with these values, since the
        page was opened.
        """
        deadline = time.monotonic() + ANSWER_S
        while True:
            for event in self.seen:
                if event["method"] == method and event["params"].items() >= wanted.items():
                    return event["params"]
            self.seen.append(self._message(deadline))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command to the page; its result. RuntimeError when it is refused."""
        deadline = time.monotonic() + ANSWER_S
        self._number += 1
        number = self._number
        command = {
            "id": number,
            "method": method,
            "params": parameters,
            **({"sessionId": self._session} if self._session else {}),
        }
        _write(self._to, json.dumps(command).encode() + b"\0")
        while (message := self._message(deadline)).get("id") != number:
            self.seen.append(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        result: dict[str, Any] = message["result"]
        return result

    def close(self) -> None:
        """End it, whatever it is doing."""
        os.close(self._to)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)

    def _new_page(self) -> None:
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def _message(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._unread:
            readable, _, _ = select.select(
                [self._from], [], [], max(0.0, deadline - time.monotonic())
            )
            piece = os.read(self._from, 2**20) if readable else b""
            if not piece:
                raise RuntimeError("Chromium did not answer" if not readable else "Chromium ended")
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


@contextmanager
def running(program: str) -> Iterator[Browser]:
    """A browser for as long as the block runs, with a new profile."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, Path(folder))
        try:
            yield browser
        finally:
            browser.close()


@cache
def found() -> tuple[str | None, str]:
    """The program, installed if need be; and, where there is none, why."""
    with (Path(tempfile.gettempdir()) / "memory-core-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several test processes one installs, the others wait
        if (program := _on_the_path()) is not None:
            return program, ""
        if shutil.which("apt-get") is None or os.geteuid() != 0:
            return None, "there is no Chromium, and installing it needs apt-get and root"
        version = _installed()
        program = _on_the_path()
        return program, "" if program else f"apt-get could not install Chromium: {version[-500:]}"


def _on_the_path() -> str | None:
    return next((program for name in NAMES if (program := shutil.which(name)) is not None), None)


def _installed() -> str:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    options = ["-qq", "-o", "DPkg::Lock::Timeout=120"]
    output = ""
    for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        done = subprocess.run(
            ["apt-get", *options, *command], env=quiet, capture_output=True, text=True, timeout=600
        )
        output += done.stdout + done.stderr
    return output


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def appear(page: Browser, expression: str) -> Any:
    """The value of an expression once it is true."""
    return answer_when(lambda: page.evaluate(expression), bool)


def click(page: Browser, selector: str) -> None:
    """Click an element once it is there."""
    appear(page, f"!!document.querySelector({json.dumps(selector)})")
    page.evaluate(f"document.querySelector({json.dumps(selector)}).click()")
