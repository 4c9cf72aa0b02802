"""The code blocks of README and docs/: what they are, a shell that runs them,
and whether what they print is what the page shows.

A comment before a block says what a reader need not see:

- `<!-- not run: the reason -->`: the block is not run; its commands are still parsed.
- `<!-- before: a command -->`: a command that is run before the block. Several lines are several
  commands; what a command prints may follow in its line behind `#=>`.

In what a page shows, `...` and `…` stand for anything, dates of the time of writing for any date,
and ids for the ids that the host gives instead; these are put into the commands that follow.
Numbers with decimals may differ by 0.02, as the embedder's do between processors. White space does
not count, and of an answer's headers only those that are shown.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import tty
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tests import fork_server

ROOT = Path(__file__).resolve().parents[1]
ADDRESS = "http://127.0.0.1:7071"
SHELL = ("console", "bash")
TOLERANCE = 0.02
SILENCE_S = 120
"""After which a command that prints nothing is taken to hang."""
_BLOCK = re.compile(r"((?:^<!--.*?-->\n)*)^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
_BEFORE = re.compile(r"<!-- before: (.+?) -->", re.DOTALL)
_ID = r"\b(?:mem|msg|ep|tsk|cft|evt|dlv|aud)_[0-9a-f]+(?:…|\b)|\b[0-9a-f]{32}\b"
_USER = re.compile(r'("user_id": ?"|user_id=|/users/|\.user\("|MEMORY_CORE_USER=)(\w+)\b')
_PIECE = re.compile(
    rf"(?P<id>{_ID})|(?P<any>\.\.\.|…)|(?P<date>2026-1[12]-\d\d(?:T[\d:.]+(?:Z|\+00:00)?)?)"
    r'|(?P<size>"(?:\w*bytes|slices|latency_ms)": ?)[\d.]+|(?P<rate>\b[\d.]+ s \([\d,]+/s\))'
    r"|(?P<decimal>\b\d+\.\d{2,}\b)|(?P<space>\s+)"
)
_ERASED_LINE = re.compile(r"[^\n]*\n?(?:\r|\x1b\[1A|\x1b\[\?25[lh])*\x1b\[2K")
_TERMINAL_CODES = re.compile(r"\x1b\]8;;[^\x1b]*\x1b\\|\x1b\[[0-9;?]*[A-Za-z]|\r")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it begins, its language, its text, and what the comments
    before it say.
    """

    page: Path
    line: int
    language: str
    text: str
    not_run: str | None
    before: tuple[str, ...]

    @property
    def name(self) -> str:
        """The page and the line, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Step:
    """A command of a shell block, and what the page shows that it prints; None where the page shows
    nothing of it.
    """

    block: Block
    command: str
    expected: str | None


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, match.end(1)) + 1,
            match[3],
            re.sub(rf"^{match[2]}", "", match[4], flags=re.MULTILINE),
            reason[1] if (reason := _NOT_RUN.search(match[1])) else None,
            tuple(line for before in _BEFORE.findall(match[1]) for line in before.splitlines()),
        )
        for match in _BLOCK.finditer(text)
    ]


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a shell block, each with the lines that follow it."""
    if block.language == "bash":
        return [(block.text.strip(), "")]
    blocks_found: list[tuple[str, str]] = []
    for part in re.split(r"(?m)^\$ ", block.text)[1:]:
        lines = part.rstrip("\n").split("\n")
        end = next(
            (number for number in range(1, len(lines)) if is_whole("\n".join(lines[:number]))),
            len(lines),
        )
        blocks_found.append(("\n".join(lines[:end]), "\n".join(lines[end:]).strip("\n")))
    return blocks_found


def is_whole(command: str) -> bool:
    """Whether the shell would not wait for more lines."""
    here = re.search(r"<<'?(\w+)'?", command)
    if here is not None:
        return re.search(rf"(?m)^{here[1]}$", command) is not None
    return not command.endswith("\\") and syntax_error(command) is None


def syntax_error(command: str) -> str | None:
    """What the shell says of a command that it can't parse."""
    done = subprocess.run(["bash", "-n"], input=command, capture_output=True, text=True, timeout=20)
    return done.stderr if done.returncode or "warning" in done.stderr else None


def steps(page: Path) -> list[Step]:
    """What to run of a page, its Python too where there are commands beside it."""
    every, steps_found = blocks(page), list[Step]()
    for block, following in zip_longest(every, every[1:]):
        if block.not_run:
            continue
        if block.language in SHELL:
            steps_found += [before_step(block, line) for line in block.before]
            own = [Step(block, command, output or None) for command, output in commands(block)]
            steps_found += [*own[:-1], with_json_below(own[-1], following)]
        elif block.language == "python":
            steps_found.append(
                Step(
                    block,
                    f"python - <<'PROGRAM'\n{block.text}PROGRAM",
                    "\n".join(re.findall(r"# prints: (.*)", block.text)) or None,
                )
            )
    return steps_found


def before_step(block: Block, line: str) -> Step:
    """The step of a line in a `before` comment."""
    command, _, expected = line.partition("#=>")
    return Step(block, command.strip(), expected.strip() or None)


def with_json_below(step: Step, below: Block | None) -> Step:
    """A step and what it prints: what the page shows of headers, and the JSON block right below."""
    expected = step.expected or ""
    if expected.startswith("HTTP/"):
        expected = "\n".join(f"{line}\n..." for line in expected.split("\n"))
    if (
        below is not None
        and below.language == "json"
        and below.line - step.block.line == step.block.text.count("\n") + 3
    ):
        expected += f"\n{below.text}"
    return Step(step.block, step.command, expected or None)


class Shell:
    """A bash with a terminal, in a folder of its own, whose `memory-core` is the one of
    this project.
    """

    def __init__(self, folder: Path, **variables: str) -> None:
        programs = folder / ".venv" / "bin"
        programs.mkdir(parents=True)
        for name, command in (
            ("memory-core", fork_server.command("memory_core.cli")),
            ("python", [sys.executable]),
        ):
            (programs / name).write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
            (programs / name).chmod(0o755)
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MEMORY_", "EMBEDDING_", "LLM_"))
        }
        environment |= {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'memory_core_client' / 'src'}",
            "PYTHONUTF8": "1",
            "HOME": str(folder),
            "COLUMNS": "250",
            "TERM": "xterm",
            "NO_COLOR": "1",
            **variables,
        }
        terminal, inner = pty.openpty()
        tty.setraw(inner)
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=inner,
            stderr=inner,
        )
        os.close(inner)
        self._output = os.fdopen(terminal, "rb", buffering=0)

    def run(self, command: str) -> tuple[str, int]:
        """What a command prints, and its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\nprintf '\\036%s\\036' $?\n".encode())
        self._process.stdin.flush()
        received = b""
        while received.count(b"\x1e") < 2:
            readable, _, _ = select.select([self._output], [], [], SILENCE_S)
            assert readable, (
                f"nothing more for {SILENCE_S} s: {command}\n{received.decode(errors='replace')}"
            )
            received += self._output.read(65_536)
        text, code, _ = received.decode().split("\x1e")
        return _TERMINAL_CODES.sub("", _ERASED_LINE.sub("", text)), int(code)

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._output.close()


class Reader:
    """A reader who types in what a page says: with the host's address, users of their own,
    and the ids that they were given.
    """

    def __init__(self, page: Path, shell: Shell, address: str) -> None:
        self._shell, self._address, self._suffix = shell, address, re.sub(r"\W", "", page.stem)
        self._ids: dict[str, str] = {}

    def adapted(self, text: str) -> str:
        """A text of the page with the reader's own address and users."""
        host = self._address.removeprefix("http://")
        text = text.replace(ADDRESS.removeprefix("http://"), host).replace("localhost:7071", host)
        return _USER.sub(rf"\1\2{self._suffix}", text)

    def follow(self, step: Step) -> str | None:
        """Run a step; what is wrong with its end or with what it printed."""
        command = self.adapted(step.command)
        for placeholder, given in self._ids.items():
            command = command.replace(placeholder, given)
        printed, code = self._shell.run(command)
        wrong = f"{step.block.name}: {command}\n{printed}"
        if code:
            return f"{wrong}\nended with {code}"
        if step.expected is None:
            return None
        pattern, ids, decimals = expectation(self.adapted(step.expected), self._ids)
        match = re.fullmatch(pattern, printed.strip(), re.DOTALL)
        if match is None or any(
            abs(float(match[group]) - value) > TOLERANCE for group, value in decimals.items()
        ):
            return f"{wrong}\nis not what the page shows:\n{step.expected}"
        self._ids |= {placeholder: match[group] for placeholder, group in ids.items()}
        return None


def expectation(output: str, known: dict[str, str]) -> tuple[str, dict[str, str], dict[str, float]]:
    """A pattern for what a page shows, the group of each id that is not known yet,
    and the decimals by their groups.
    """
    text, pattern, ids, decimals, end = output.strip(), "", dict[str, str](), dict[str, float](), 0
    for piece in _PIECE.finditer(text):
        pattern += re.escape(text[end : piece.start()])
        end = piece.end()
        if (name := piece["id"]) is not None and name in known:
            pattern += re.escape(known[name])
        elif name is not None and name in ids:
            pattern += f"(?P={ids[name]})"
        elif name is not None:
            ids[name] = f"id{len(ids)}"
            pattern += rf"(?P<{ids[name]}>[a-z0-9]+_?[\w-]+)"
        elif piece["any"]:
            pattern += ".*?"
        elif piece["size"]:
            pattern += re.escape(piece["size"].strip()) + r"\s*[\d.]+"
        elif piece["decimal"]:
            decimals[f"decimal{len(decimals)}"] = float(piece["decimal"])
            pattern += rf"(?P<decimal{len(decimals) - 1}>\d+\.\d+)"
        elif piece["rate"]:
            pattern += r"[\d.]+ s \([\d,.]+/s\)"
        else:
            pattern += r"\s*" if piece["space"] else r"20\d\d-\d\d-\d\d[T\d:.Z+]*"
    return pattern + re.escape(text[end:]), ids, decimals


def documents(text: str) -> Iterator[object]:
    """The JSON documents of a block, fields without braces around them included; elisions are left
    out. ValueError where it is none.
    """
    strings = re.split(r'("(?:[^"\\]|\\.)*")', text)
    strings[::2] = [
        re.sub(r",\s*(?=[}\]])", "", re.sub(r"(?:…|\.\.\.)\s*,?|,\s*(?:…|\.\.\.)", "", part))
        for part in strings[::2]
    ]
    whole = re.sub(r",\s*([}\]])", r"\1", "".join(strings)).strip().rstrip(",")
    if re.match(r'"\w+": ?', whole):
        whole = f"{{{whole}}}"
    decoder, place = json.JSONDecoder(), 0
    while place < len(whole):
        document, place = decoder.raw_decode(whole, place)
        yield document
        place += len(whole[place:]) - len(whole[place:].lstrip())
