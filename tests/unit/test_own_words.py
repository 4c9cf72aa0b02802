"""What a speaker says himself: quotations, pastes, examples and recalled memories are blanked,
in place.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.statements.own_words import own_words, without_recalled


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('He said "I live in Oslo" today', "He said today"),
        ("He said “I live in Oslo” today", "He said today"),
        ("Er sagte „Ich wohne hier“ und ging", "Er sagte und ging"),
        ("Il dit « je vis ici » souvent", "Il dit souvent"),
        ("She wrote 'I don't care' to me", "She wrote to me"),
        ("My favourite film is 'The Big Sleep'.", "My favourite film is 'The Big Sleep'."),
        ("I don't know what's Tom's plan", "I don't know what's Tom's plan"),
        ("Look: `rm -rf` done", "Look: done"),
        ("Look:\n```\nI am code\n```\ndone", "Look: done"),
        ("> I live in Oslo\nReally?", "Really?"),
        ("I eat fruit, for example I love figs. I sleep.", "I eat fruit, . I sleep."),
        ("<memory id=1>I live in Oslo</memory> Hello", "Hello"),
        ("Hello <context>I live in Oslo", "Hello"),
        ("Relevant memories:\n- I live in Oslo\n- I like tea\n\nHello", "Hello"),
        ('{"text": "I live in Oslo"}\nHello', "Hello"),
        ("[mem_0123456789ab] I live in Oslo\nHello", "Hello"),
        (
            (
                "## Summary\nUser lives in Oslo.\n\n## Guidance\nDo: write.\n\n---\nTags: "
                "Oslo\n\nHello"
            ),
            "Hello",
        ),
        ("Look:\n  ## Behavioral Patterns\nUser's style: short", "Look:"),
        ("I wrote a ## Summary of it\n---\nHello", "I wrote a ## Summary of it --- Hello"),
    ],
)
def test_what_is_not_the_speakers_own_is_blank(text: str, left: str) -> None:
    assert " ".join(own_words(text).split()) == left


def test_only_recalled_memories_are_taken_out_where_quotations_may_prove() -> None:
    text = 'Tom said "I quit".\n<memory>User lives in Oslo</memory>'
    assert without_recalled(text).split() == ["Tom", "said", '"I', 'quit".']


@given(st.text(alphabet=st.sampled_from("ab \n\"'“”„«»`<>{}:/>-memory[]_0123"), max_size=200))
def test_places_and_lines_stay_where_they_are(text: str) -> None:
    own = own_words(text)
    assert len(own) == len(text)
    assert all(after in (before, " ") for before, after in zip(text, own, strict=True))
    assert own.count("\n") == text.count("\n")


@pytest.mark.parametrize("nested", ["‘{}’", "“{}”", "„{}“", "«{}»"])
def test_a_quotation_begins_at_its_last_opening_mark(nested: str) -> None:
    """Each opening mark began a scan of up to 12,000 characters: a text of them took a second."""
    opening = nested[0]
    text = (
        f"She told me {opening} " * 3
        + nested.format("I live in Oslo and I love it there")
        + " yesterday"
    )
    own = own_words(text)
    assert "Oslo" not in own
    assert own.count(opening) == 3
    assert own.endswith(" yesterday")


LIVES = "I live in Zurich and work at Novartis."


@pytest.mark.parametrize(
    "text",
    [
        "Here's the page text:\n@\nWhat is it about?",
        "Summarize this:\n\n@",
        "Summarize this email:\n\nHi Nina,\n\n@\n\nBest,\nTom",
        "Can you shorten this email?\n\nDear Mr Smith,\n\n@",
        "My landlord sent me this. What do you think?\n\nDear tenant,\n@",
        "Fix the grammar: @",
        "Is this spam?\n\n@",
        "What does this mail want?\n\n@",
        "Could you check this for typos?\n\n@",
        "Proofread my cover letter for a friend\n\n@",
        "Make this sound nicer:\n\n@",
        "I got this email today: @",
        "Here's my cousin's bio, please fix grammar: @",
        "My teacher said: @",
        "Übersetze ins Englische: @",
        "Kannst du den Brief kürzen?\n\nSehr geehrte Frau Maier,\n@",
        "Bitte korrigiere den Text:\n@",
        "Mein Kollege hat geschrieben: @",
        "次の文を英語に訳して：@",
        "この文章を要約して：\n@",
    ],
)
def test_a_text_to_work_on_and_words_of_other_people_are_not_the_speakers(text: str) -> None:
    assert "live" not in own_words(text.replace("@", LIVES))


@pytest.mark.parametrize(
    "text",
    [
        "As I said: @",
        "Ich habe gesagt: @",
        "Hi Claude,\n\n@\n\nThanks,\nTom",
        "Let me explain: @",
        "Quick update: @",
        "Edit: @",
        "To answer your question: @",
        "Please remember this: @",
        "This is my story: @",
        "A few facts about me:\n- @",
        "Can you help me plan a trip?\n\n@",
        "What is a good dish for this weekend?\n\n@",
        "Write a letter to my landlord.\n\n@",
        "I translate French novels: @",
        "Translate to German: good morning\n\n@",
        "My teacher said: no homework.\n\n@",
    ],
)
def test_what_a_speaker_says_after_an_opening_is_their_own(text: str) -> None:
    assert LIVES in own_words(text.replace("@", LIVES))


def test_a_story_names_who_says_something_in_their_own_words() -> None:
    story = f"Ben said: {LIVES}"
    assert (own_words(story, is_story=True), "live" in own_words(story)) == (story, False)


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-22 11:58:02 INFO @",
        "2026-11-22 11:58:02 WARN  [main] user.name=root @",
        "[2026-11-22T11:58:02.123Z] @",
        "11:58:02,123 WARNUNG @",
        "Nov 22 11:58:02 web sshd[4]: @",
        "[WARN] @",
        "[ERROR] @",
        "DEBUG @",
        "INFO @",
        "WARN: @",
        "ERROR: @",
        "WARNING:root:@",
        "ValueError: @",
        "java.lang.IllegalStateException: @",
        '    File "wish.py", line 3, in @',
        "    at com.example.Wish.run(Wish.java:10) @",
        "$ echo @",
        "$ cat notes.txt\n@",
        "root@web-1:~# echo @",
        "PS C:\\Users\\me> echo @",
        ">>> print('@')",
    ],
)
@pytest.mark.parametrize(
    ("question", "wish"),
    [
        ("What does this mean?", "always answer in French"),
        ("Was heißt das?", "Antworte immer auf Deutsch"),
        ("これは何？", "いつもフランス語で答えてください"),
    ],
)
def test_a_line_of_a_log_a_trace_or_a_shell_is_not_the_speakers(
    line: str, question: str, wish: str
) -> None:
    logged = f"{wish}".join(line.rsplit("@", 1))
    assert own_words(f"{question}\n{logged}\n\nThanks").split() == [*question.split(), "Thanks"]


@pytest.mark.parametrize(
    "text",
    [
        "WARNING: I'm allergic to nuts, never suggest them",
        "Plan a dinner.\nWARNING: I'm allergic to nuts",
        "INFO: ich wohne jetzt in Bonn",
        "Info: antworte mir immer auf Deutsch",
        "Warnung:\nIch bin allergisch gegen Nüsse",
        "Exception: never on Sundays",
        "Error handling: always use exceptions.",
        "2026-11-22 10:00 dentist, please remind me",
        "11:58 train\n- always answer in French",
        "$50 is my limit, never suggest more",
        "$ 50 is my limit, never suggest more",
        "The log is fine.\nAlways answer in French",
        "my server logs WARN lines,\nplease always explain them",
        "Trace the call for me:\nand always answer in German",
        "File this under work:\nalways answer in French",
        "at work:\nI always use tabs",
        "注意：\n絵文字は使わないでください",
    ],
)
def test_a_speakers_own_line_that_looks_like_one_stays(text: str) -> None:
    assert own_words(text) == text
