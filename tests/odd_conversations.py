"""Odd conversations drawn from a seed: paths, links, base64, templates, escapes,
fifteen languages, all planes of Unicode.

`conversation(seed)` is always one that the API takes; `refused(seed)` is always one that it
refuses. The same seed gives the same text in every run, so that the number of a failure is enough
to repeat it.
"""

from __future__ import annotations

import base64
import json
import random
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import quote

from memory_core.domain.conversation import Message
from memory_core.domain.errors import AgentFailed
from memory_core.domain.text.sentences import sentences
from memory_core.formation.boundaries import WINDOW_MESSAGES
from memory_core.ports import Agents, DecisionItem, SceneItem

MAX_BYTES = 32 * 1024
"""UTF-8 bytes of a message that the API takes."""
MAX_BODY = 900_000
"""Bytes of all messages together, below what a request may have."""
_START = datetime(2026, 1, 5, 9, 0, tzinfo=timezone.utc)
_ALPHANUMERIC = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

LANGUAGES: dict[str, tuple[str, ...]] = {
    "en": (
        "I live in Lisbon.", "My sister Anna works at Contoso and hates mushrooms.",
        "I'm flying to Oslo next Friday.", "What do I like?",
    ),
    "de": (
        "Ich wohne in Köln.", "Mein Name ist Jürgen Müller-Lüdenscheidt.",
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft!",
        "Ich bin allergisch gegen Nüsse.",
        (
            "Ich arbeite seit 2019 bei der "
            "Rindfleischetikettierungsüberwachungsaufgabenübertragungsbehörde."
        ),
    ),
    "fr": (
        "J'habite à Lyon depuis l'été.", "Je m'appelle Zoë.",
        "« Ça marche », dit-elle ; j'aime les pâtes.", "Je déteste l'ail !",
    ),
    "es": (
        "Vivo en Bogotá.", "¿Dónde trabajo? ¡Trabajo como médica!", "Me gusta mucho el café.",
        "Soy alérgica a los cacahuetes.",
    ),
    "it": (
        "Vivo a Torino.", "Mi piace il risotto.", "Perché no? È l'ultima volta.",
        "Mia moglie si chiama Giulia.",
    ),
    "pt": (
        "Moro em São Paulo.", "Não gosto de coentro.", "O meu cão chama-se Bolinha.",
        "Amanhã vou à praia.",
    ),
    "nl": (
        "Ik woon in 's-Hertogenbosch.", "Mijn zus heet Fleur.", "Ik hou niet van drop.",
        "Volgende week ga ik op vakantie.",
    ),
    "ja": (
        "私は東京に住んでいます。", "猫が好きです！", "来週、京都へ行きます。",
        "好きな食べ物はラーメンです。" * 4,
    ),
    "zh": (
        "我住在北京。", "我喜欢喝茶，不喜欢咖啡。", "下周五我要去上海。", "我的妹妹叫小红。" * 4,
    ),
    "ko": (
        "저는 서울에 살아요.", "고양이를 좋아해요!", "다음 주에 부산에 갑니다.",
        "제 이름은 김민수입니다.",
    ),
    "ar": (
        "أعيش في القاهرة.", "أحب القهوة ولا أحب الشاي.", "اسمي ليلى؟",
        "سأسافر إلى دبي الأسبوع القادم.",
    ),
    "ru": (
        "Я живу в Москве.", "Меня зовут Наташа.", "Я люблю борщ и не люблю грибы.",
        "Завтра я лечу в Казань.",
    ),
    "he": (
        "אני גר בתל אביב.", "אני אוהב חומוס.",
    ),
    "hi": (
        "म\u0948\u0902 द\u093fल\u094dल\u0940 म\u0947\u0902 रहत\u093e ह\u0942\u0901।",
        "म\u0941झ\u0947 च\u093eय पस\u0902द ह\u0948।",
    ),
    "th": (
        "ฉ\u0e31นอย\u0e39\u0e48ท\u0e35\u0e48กร\u0e38งเทพ", "ฉ\u0e31นชอบแมวมากๆ",
    ),
}  # fmt: skip
FRAMES = re.split(
    r"\s+\|\s+",
    """I live in {}. | I live in {} and I work at {}. | I work at {}. | I work as a {} for {}. | My name is {}. | Call me {}. |
    I'm {}. | My favourite {} is {}. | My favorite food is {}! | My birthday is {}. | My birthday is on 3 May {}. |
    My email is {}. | My e-mail address is {}@{}.example. | My phone number is {}. | I love {}, {} and {}. | I hate {}. |
    I don't like {} any more. | I prefer {} to {}. | I prefer {} over {}. | My wife {} lives in {}. | My sister {} is called {}. |
    My sister's name is {}. | I have a dog called {}. | I'm allergic to {}. | I moved from {} to {} last week. |
    I no longer work at {}. | I stopped eating {}. | We live near {}. | I drive a {}. | I own a {}. |
    I am on holiday in {} until Friday. | My deadline for {} is tomorrow. | No, I meant {}, not {}. | Actually, I meant {}. |
    I study {} at the University of {}. | Every Monday I use {} with {}. | My address is {}. | My goal is {}. |
    I got promoted to {}. | I'm {} years old. | I have {} children. | Ich heiße {}. | Ich wohne in {}. | Je m'appelle {}. |
    Me llamo {}. | Ich mag {}. | j'adore {} | Vivo en {}. | Can you explain {}? | It worked: {} | That did not work: {} |
    Please translate: {} | He said: "I live in {}" | {} | {} {} {} | My {} is {}. | The {} of {} is {}. | Remember that {} |
    I will {} in 3 days | I'm pregnant and {} | my {}'s {} me mine myself {}""",  # noqa: E501
)
TEMPLATES = re.findall(
    r"\S+",
    r"""
    {0} {} {{}} {who} {value} {0.__class__.__mro__} %s %(name)s % %n %1$s $1 ${HOME} $0 \1 \0 \g<0> \g<name> \n \u0041 \x41
    \N{BULLET} \Z \ \\ \jdoe {{7*7}} <%=x%> #{x} `id` $(id) {%if%} \Q (?P<x> &amp; %00 %2e%2e/""",  # noqa: E501
)
METACHARACTERS = re.findall(
    r"\S+",
    r"""
    .* (a+)+$ [ ] ( ) [^ a{2, * + ? | ^ $ (?i) [a- \b (?<= {1} . \d+ [[:alpha:]]""",
)
PASTES = (
    "{\"a\": {\"b\": [1, 2, null, true, \"x\\ny\"]}, \"user_id\": \"eve\"}",
    "<html><body onload=alert(1)><p>I live in <b>Rome</b>.</p></body></html>",
    "| a | b |\n|---|---|\n| 1 | 2 |\n| I live in Oslo | 4 |",
    "```python\ndef f(x):\n    return re.sub(r'(\\w+)', r'\\1', x)\n```",
    "```\nunclosed",
    (
        "Traceback (most recent call last):\n  File \"C:\\app\\main.py\", line 3, in <module>\n    "
        "raise KeyError('x')\nKeyError: 'x'"
    ),
    (
        "2026-05-08T13:56:00.123Z ERROR [worker-3] o.a.k.Client - Connection refused: "
        "/10.0.0.1:9092\n"
    ) * 8,
    "SELECT * FROM c WHERE c.id = 'x' OR 1=1; DROP TABLE memories; --",
    "a,b,c\n1,2,3\n\"x\"\"y\",,\n" * 10,
    "diff --git a/x b/x\n@@ -1 +1 @@\n-I live in Rome\n+I live in Oslo",
    "## Summary\nUser lives in Rome.\n\n## Guidance\nDo: x\n---\nTags: a, b | Keywords: c",
    "<memories>I live in Rome</memories>",
    "> quoted\n> I live in Rome\n\nok",
    "---\ntitle: x\n---\n# H1\n* a\n* b\n  1. c\n- [ ] todo\n- [x] done",
    "user: I live in Rome\nassistant: ok",
    "Dear Sir,\n\nI am writing to you.\n\n-- \nBob\n+49 30 12345",
    (
        "\\documentclass{article}\\begin{equation}\\frac{\\partial u}{\\partial t} = \\alpha "
        "\\nabla^2 u\\end{equation}"
    ),
    "#!/bin/bash\nset -euo pipefail\necho \"$@\" | sed 's/a/b/g' > /dev/null",
    "mem_0123456789abcdef cnv_0123456789abcdef",
    "__proto__ constructor toString undefined null NaN Infinity -0 1e309",
    "= 1+1\n@SUM(A1)\n+cmd|' /C calc'!A0",
)  # fmt: skip
SCRIPTS = (
    "👩\u200d👩\u200d👧\u200d👦", "👍🏽", "🏳\ufe0f\u200d🌈", "🇩🇪🇫🇷", "1\ufe0f\u20e3", "❤\ufe0f",
    "🧑🏿\u200d🚀", "é", "Å", "ﬁ", "ß", "İ", "ı", "ǅ", "ŉ", "㈱", "½", "Ⅷ", "𝔘𝔫𝔦", "𐍈", "𠜎𠜱", "☃",
    "ﷺ", "\u0600", "ᾈ", "ΐ", "ẞ", "Ω",
)  # fmt: skip
INVISIBLE = (
    "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u202d", "\u2066",
    "\u2069", "\u200f", "\u061c", "\u2028", "\u2029", "\u0085", "\u180e", "\ufe0f", "\U000e0001",
    "\U000e0041", "\u00a0", "\u3000", "ᅟ", "ㅤ",
)  # fmt: skip
CONTROLS = tuple(chr(code) for code in (*range(1, 32), *range(127, 160)))
ACTORS = (
    "CORP\\jdoe", "CORP\\nina", "C:\\Users\\x", "\\", "\\1", "\\g<0>", "\\g<name>", "{0}", "{who}",
    "%s", "$1", "User", "user", "Assistant", "I", "my", "me", "mine", "[", "(", "*", ".*", "a|b",
    "?", "🙂", "👩\u200d👩\u200d👧\u200d👦", "x" * 128, "ж" * 200, "é" * 64, "Dr. Ann-Marie O'Neil",
    "null", "None", "ana's", "N/A", "\u202eevil", "a\nb", "a\tb", "\u0007", "日本太郎", "أحمد",
    "ana@example.com", "ana (she/her)", "a.b", "ends with \\", "\U0001f468\u200d" * 20,
    "e\u0301" * 40, "&<>\"'",
    "../../etc/passwd", "DROP TABLE", "--", "#", "/", "a/b#c?d", "Nobody said", "Ann said:", "^$",
    "\\d+", "(?i)x",
)  # fmt: skip
_ODD_TIMES = (
    "0001-01-01T00:00:00+00:00",
    "1969-12-31T23:59:59.999999+00:00",
    "2000-02-29T12:00:00+14:00",
    "2024-12-31T23:59:59+00:00",
    "1900-01-01T00:00:00-12:00",
    "2026-01-01T00:00:00.000001Z",
)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The texts of one seed."""

    draw: random.Random

    def of(self, length: int, alphabet: str = _ALPHANUMERIC) -> str:
        return "".join(self.draw.choices(alphabet, k=length))

    def length(self) -> int:
        """Mostly short, now and then beyond every limit that the product knows."""
        return self.draw.choice(
            (
                1,
                2,
                3,
                7,
                20,
                40,
                79,
                80,
                81,
                120,
                199,
                200,
                201,
                230,
                500,
                501,
                601,
                1_000,
                3_001,
                6_000,
            )
        )

    def blob(self) -> str:
        return base64.b64encode(self.draw.randbytes(self.length())).decode()

    def token(self) -> str:
        parts = (
            b'{"alg":"HS256","typ":"JWT"}',
            self.draw.randbytes(self.length()),
            self.draw.randbytes(32),
        )
        return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)

    def link(self) -> str:
        path = "/".join(self.of(self.draw.randint(1, 30)) for _ in range(self.draw.randint(0, 12)))
        query = "&".join(
            f"{self.of(3)}={self.of(self.draw.randint(0, 60))}%20"
            for _ in range(self.draw.randint(0, 6))
        )
        return f"{self.draw.choice(('http', 'https', 'ftp', 'file', 'HTTPS'))}://{self.of(8)}.example/{path}?{query}#{self.of(4)}"

    def path(self) -> str:
        parts = [self.of(self.draw.randint(1, 25)) for _ in range(self.draw.randint(1, 12))]
        return self.draw.choice(
            (
                "C:\\" + "\\".join(parts),
                "\\\\srv\\" + "\\".join(parts),
                "~/" + "/".join(parts),
                *(mark.join(["", *parts]) for mark in "/.:-_"),
            )
        )

    def address(self) -> str:
        return f"{self.of(min(self.length(), 230), _ALPHANUMERIC + '._+-')}@{self.of(min(self.length(), 230))}.{self.of(3)}.example"  # noqa: E501

    def word(self) -> str:
        kind = self.draw.randrange(6)
        if kind == 0:
            return self.of(self.length(), "abcdefghij")
        if kind == 1:
            return "".join(
                self.draw.choices(
                    ("Donau", "dampf", "schiff", "fahrts", "gesellschafts", "kapitän", "ß", "ü"),
                    k=min(self.length(), 900),
                )
            )
        if kind == 2:
            return self.draw.choice("aA0.?!,'\"-_\\/|~:;…") * self.length()
        if kind == 3:
            return self.of(self.length(), "0123456789")
        if kind == 4:
            return self.of(1, "ABCDEFGHIJ") + self.of(self.length(), "abcdefghij") + "'s"
        return self.of(self.length(), "日本語中文字한국어")

    def unicode(self) -> str:
        """Code points of every plane, but surrogates and NUL."""
        lines: list[str] = []
        length = min(self.length(), 600)
        while len(lines) < length:
            code = self.draw.choice(
                (
                    self.draw.randrange(1, 0x800),
                    self.draw.randrange(0x800, 0x10000),
                    self.draw.randrange(0x10000, 0x110000),
                )
            )
            if not 0xD800 <= code <= 0xDFFF:
                lines.append(chr(code))
        return "".join(lines)

    def marks(self) -> str:
        """Letters under heaps of combining marks, joined and emoji sequences,
        invisible characters.
        """
        heap = "".join(
            self.draw.choices(
                [chr(code) for code in range(0x300, 0x36F)], k=min(self.length(), 700)
            )
        )
        parts = [
            self.draw.choice(
                (
                    *SCRIPTS,
                    *INVISIBLE,
                    "a" + heap,
                    "\u200d".join(["👩"] * self.draw.randint(1, 80)),
                    "🇦" * self.draw.randint(1, 90),
                )
            )
        ]
        parts += self.draw.choices((*SCRIPTS, *INVISIBLE, *CONTROLS), k=self.draw.randint(1, 40))
        return self.draw.choice(("", " ", "\n")).join(parts)

    def fragment(self) -> str:
        """One odd thing, as it may stand within a sentence."""
        makers: tuple[Callable[[], str], ...] = (
            self.blob, self.token, self.link, self.path, self.address, self.word, self.unicode,
            self.marks,
            lambda: self.draw.choice(TEMPLATES), lambda: self.draw.choice(METACHARACTERS),
            lambda: self.draw.choice(SCRIPTS),
            lambda: self.draw.choice(ACTORS), lambda: self.draw.choice(PASTES),
            lambda: self.draw.choice(self.draw.choice(list(LANGUAGES.values()))),
            lambda: self.draw.choice(("Oslo", "Contoso", "green tea", "3 May", "1990", "nurse",
                "Max", "tomorrow", "42", "")),
        )  # fmt: skip
        return self.draw.choice(makers)()

    def sentence(self) -> str:
        frame = self.draw.choice(FRAMES)
        sentence = frame
        while "{}" in sentence:
            head, _, tail = sentence.partition("{}")
            sentence = head + self.fragment().replace("{}", "{ }") + tail
        return sentence

    def many(self) -> str:
        """Many of one kind: twenty long links, a hundred file paths."""
        maker = self.draw.choice(
            (
                self.link,
                self.path,
                self.word,
                self.address,
                self.blob,
                self.sentence,
                self.unicode,
                self.marks,
            )
        )
        glue = self.draw.choice((" ", "\n", ", ", "; ", ". ", "\n\n- ", "\t", ""))
        return glue.join(maker() for _ in range(self.draw.randint(2, 60)))

    def content(self) -> str:
        kind = self.draw.randrange(10)
        if kind < 5:
            text = " ".join(self.sentence() for _ in range(self.draw.randint(1, 4)))
        elif kind == 5:
            text = self.many()
        elif kind == 6:
            text = self.fragment()
        elif kind == 7:
            text = " ".join(
                self.draw.choices(
                    self.draw.choice(list(LANGUAGES.values())), k=self.draw.randint(1, 8)
                )
            )
        elif kind == 8:
            text = self.draw.choice(PASTES) + self.draw.choice(("", "\n", " ")) + self.sentence()
        else:
            text = self.draw.choice(
                (
                    ".",
                    "?",
                    "ok",
                    " \u200b.",
                    "🙂",
                    "-",
                    "…",
                    "\u200b",
                    "N/A",
                    "null",
                    "\\",
                    "I",
                    "my",
                    "\x01",
                    "a",
                    "我",
                )
            )
        return _taken(text)

    def actor(self) -> str | None:
        kind = self.draw.randrange(4)
        if kind < 2:
            return None
        name = self.draw.choice(ACTORS) if kind == 2 else self.fragment()
        return _taken(name)[:200] if _taken(name)[:200].strip() else None

    def moments(self, count: int) -> list[str]:
        if self.draw.random() < 0.1:
            at = self.draw.choice(_ODD_TIMES)
            return [at] * count
        now, turns = _START + timedelta(days=self.draw.randint(-9_000, 100)), []
        for _ in range(count):
            now += timedelta(
                seconds=self.draw.choice((0, 1, 30, 30, 30, 600, 9_000, 90_000, -3_600))
            )
            turns.append(now.isoformat())
        return turns


def _taken(text: str) -> str:
    """The text as the API takes it: no NUL, no unpaired surrogate, not blank, at most 32 KiB."""
    plain = "".join(
        character
        for character in text
        if character != "\0" and unicodedata.category(character) != "Cs"
    )
    cut = plain.encode()[:MAX_BYTES].decode(errors="ignore")
    return cut if cut.strip() else "."


def conversation(seed: int) -> list[dict[str, Any]]:
    """The messages of a conversation, as `POST /api/v1/memories` takes them."""
    drawn = _Drawn(random.Random(f"odd conversation {seed}"))
    draw = drawn.draw
    count = draw.choice((1, 1, 2, 3, 4, 5, 8)) if draw.random() < 0.97 else draw.choice((60, 200))
    contents = [drawn.content() for _ in range(count)]
    if draw.random() < 0.01:
        contents = [_taken((drawn.many() + draw.choice((" ", "\n", ". "))) * 200)]
    roles = draw.choice(
        (
            ["user"],
            ["user", "assistant"],
            ["user", "assistant"],
            ["user", "assistant", "system", "tool"],
            ["assistant"],
            ["tool", "system"],
        )
    )
    actors = [drawn.actor() for _ in range(draw.randint(1, 3))]
    made: list[dict[str, Any]] = []
    left = MAX_BODY
    for place, (content, at) in enumerate(zip(contents, drawn.moments(len(contents)), strict=True)):
        left -= len(json.dumps(content))
        if left < 0 and made:
            break
        actor = draw.choice(actors)
        named = {} if actor is None else {"actor": actor}
        made.append(
            {"role": roles[place % len(roles)], "content": content, "timestamp": at, **named}
        )
    return made


def messages(seed: int) -> list[Message]:
    """The conversation as the agents are given it."""
    return [Message.model_validate(message) for message in conversation(seed)]


def name(seed: int) -> str:
    """An odd name of a session or an agent that the API takes."""
    drawn = _Drawn(random.Random(f"odd name {seed}"))
    text = "".join(
        character
        for character in drawn.fragment()
        if character not in "/\\#?"
        and unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
    )
    return text.strip()[:128].strip() or "plain"


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the API: `query` as parameters, `body` as JSON; statuses: what it may answer, all
    below 500 where there are none.
    """

    method: str
    path: str
    body: dict[str, Any] | None = None
    query: dict[str, str] | None = None
    statuses: tuple[int, ...] = ()


def requests(seed: int, user_id: str) -> list[Request]:
    """The odd conversation told in every way but as a conversation, and asked for: saves, bulks, an
    agent's words, batches, queries.
    """
    drawn = _Drawn(random.Random(f"odd requests {seed}"))
    turns, session = conversation(seed)[:20], name(seed)
    spoken = [
        {name: value for name, value in message.items() if name in ("role", "content", "actor")}
        for message in turns
    ]
    owner: dict[str, Any] = {"user_id": user_id, "session_id": session}
    label = _label(drawn.fragment())
    saved = {
        "user_id": user_id,
        "content": turns[0]["content"],
        "actor": label,
        "tags": [label, *(_label(drawn.fragment()) for _ in range(3))],
    }
    slot = {
        "subject": _label(drawn.fragment()),
        "attribute": _label(drawn.fragment()),
        "value": _label(drawn.fragment()),
    }
    query = _taken(drawn.content())[:10_000].strip() or "."
    modes = [
        {"mode": "reconstruct"},
        {"explain": True, "recipe": "weighted"},
        {"tags": [label], "session_id": session},
    ]
    return [
        Request(
            "POST",
            "agent/summaries",
            {"user_id": user_id, "messages": spoken, "mode": "full"},
            statuses=(200,),
        ),
        Request(
            "POST", "agent/summaries", {"user_id": user_id, "messages": spoken}, statuses=(200,)
        ),
        Request(
            "POST",
            "memories/save",
            {**saved, **owner, "event_timestamp": turns[0]["timestamp"]},
            statuses=(200, 201),
        ),
        Request(
            "POST",
            "memories/save",
            {**saved, **slot, "type": "semantic", "category": label},
            statuses=(200, 201),
        ),
        Request(
            "POST",
            "memories/save",
            {"user_id": user_id, "type": "procedural", "key": label, "value": slot},
            statuses=(200, 201),
        ),
        Request(
            "POST",
            "memories/bulk",
            {
                "user_id": user_id,
                "memories": [{"content": message["content"]} for message in turns[:5]],
            },
        ),
        Request(
            "POST",
            "agent/memories",
            {**owner, "messages": spoken[:3], "agent_id": name(seed + 1)},
            statuses=(202,),
        ),
        Request("POST", "memories/batch", {**owner, "messages": turns[:3]}, statuses=(200, 202)),
        Request("POST", "memories/batch/flush", owner),
        Request("POST", "memories/retrieve", {"user_id": user_id, "query": query}, statuses=(200,)),
        Request(
            "POST",
            "memories/retrieve",
            {"user_id": user_id, "query": query, **drawn.draw.choice(modes)},
            statuses=(200,),
        ),
        Request(
            "POST",
            "context",
            {"user_id": user_id, "query": query, "session_id": session},
            statuses=(200,),
        ),
        Request("GET", "memories/query", query={"user_id": user_id, "query": query[:500]}),
        Request(
            "GET",
            "memories",
            query={"user_id": user_id, "tag": label, "category": label},
            statuses=(200,),
        ),
        Request("GET", "timeline", query={"user_id": user_id, "subject": slot["subject"]}),
        Request("GET", f"sessions/{quote(session, safe='')}", query={"user_id": user_id}),
        Request("GET", f"procedures/{quote(label, safe='')}", query={"user_id": user_id}),
    ]


def _label(text: str) -> str:
    return _taken(text)[:200].strip() or "label"


async def ask_all(agents: Agents, seed: int) -> None:
    """Ask agents everything that formation, consolidation and recollection ask, about one odd
    conversation. Raises what they raise.
    """
    turns = messages(seed)[:WINDOW_MESSAGES]
    await agents.detect_boundary("app", turns, turns[0].content)
    await agents.analyse_episode("app", turns)
    await agents.summarise("app", turns, fast=True)
    summary = (await agents.summarise("app", turns)).value
    facts = (await agents.extract_facts("app", turns)).value.facts
    story = DecisionItem(0, summary.narrative, "note", turns[0].timestamp, actor=turns[0].actor)
    items = [
        DecisionItem(
            number,
            fact.text,
            "fact",
            turns[0].timestamp,
            (fact.subject, fact.attribute) if fact.subject and fact.attribute else None,
        )
        for number, fact in enumerate(facts[:5])
    ]
    contents = [
        DecisionItem(number, message.content, None, message.timestamp, actor=message.actor)
        for number, message in enumerate(turns[:5])
    ]
    await agents.decide_conflicts("app", [*items, story], [*items, *contents, story])
    await agents.find_patterns(
        "app",
        [
            replace(content, number=number)
            for number, content in enumerate((*contents, *contents, *contents))
        ],
    )
    await agents.judge_sufficiency(
        "app", turns[0].content[:10_000], [turns[0].content[:10_000]], [*contents, *items]
    )
    shows = tuple(sentence.text[:300] for sentence in sentences(turns[0].content)[:4])
    await agents.update_profile(
        "app", [SceneItem(0, "food", (summary.narrative,) * 3, (shows,) * 3, turns[0].timestamp)]
    )
    with suppress(AgentFailed):  # what does not fit into one note is an answer, too
        await agents.synthesise("app", [story, *contents[:3]])


def refused(seed: int) -> str:
    """The body of a request, as JSON, that says something that no store can keep: NUL, half a
    surrogate pair, nothing at all.
    """
    draw = random.Random(f"refused {seed}")
    half = draw.choice(
        ("\\ud800", "\\udfff", "\\udc00\\ud800", "\\u0000", "x\\u0000y", "\\ud83d", "a\\ude42b")
    )
    content, actor = draw.choice(
        ((half, "ana"), ("hello", half), ("", "ana"), (" \\n\\t", "ana"), ("hello", "  "))
    )
    story = (
        f'{{"role": "user", "content": "{content}", "timestamp": "2026-01-05T09:00:00Z", "actor": '
        f'"{actor}"}}'
    )
    return f'{{"user_id": "refused", "messages": [{story}]}}'
