"""Small exports of chat apps and memory services, as these write them, for the tests of
`memory-core import`.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def chatgpt_message(
    key: str, role: str, text: str, parent: str | None, children: list[str], **fields: Any
) -> Json:
    """A node of a conversation of ChatGPT, said at 2026-05-08T12:00:00Z."""
    content = {"content_type": "text", "parts": [text]}
    message = {
        "id": key,
        "author": {"role": role},
        "create_time": 1778241600.5,
        "content": content,
        "metadata": {},
    } | fields
    return {"id": key, "message": message, "parent": parent, "children": children}


def chatgpt_conversation(name: str = "c1", *turns: str) -> Json:
    """A conversation of ChatGPT of these turns, the user's first, with a hidden system message and
    a branch that was given up.
    """
    texts = turns or ("I moved to Lisbon in May.", "How do you like it?")
    keys = [f"{name}-m{number}" for number in range(len(texts))]
    mapping: Json = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["system"]},
        "system": chatgpt_message("system", "system", "", "root", [keys[0], "other"]),
        "other": chatgpt_message("other", "user", "I moved to Porto in May.", "system", []),
    }
    for number, (key, text) in enumerate(zip(keys, texts, strict=True)):
        parent, role = (
            keys[number - 1] if number else "system",
            "assistant" if number % 2 else "user",
        )
        mapping[key] = chatgpt_message(key, role, text, parent, keys[number + 1 : number + 2])
    return {
        "title": "Moving",
        "create_time": 1778241600.0,
        "mapping": mapping,
        "current_node": keys[-1],
        "conversation_id": name,
    }


CLAUDE = [
    {
        "uuid": "7b1e",
        "name": "Bees",
        "created_at": "2026-05-08T12:00:00.000000Z",
        "chat_messages": [
            {
                "uuid": "u1",
                "text": "I keep bees.",
                "content": [{"type": "text", "text": "I keep bees."}],
                "sender": "human",
                "created_at": "2026-05-08T12:00:00.123456Z",
                "attachments": [],
                "files": [{"file_name": "hive.png"}],
            },
            {
                "uuid": "u2",
                "text": "",
                "content": [
                    {"type": "thinking", "thinking": "Bees."},
                    {"type": "text", "text": "How many hives?"},
                ],
                "sender": "assistant",
                "created_at": "2026-05-08T12:00:30Z",
            },
            {
                "uuid": "u3",
                "text": "",
                "content": [],
                "sender": "human",
                "created_at": "2026-05-08T12:01:00Z",
            },
        ],
    }
]
MEM0 = {
    "results": [
        {
            "id": "3f1c",
            "memory": "Plays the cello",
            "hash": "9d",
            "metadata": {"where": "choir"},
            "categories": ["music"],
            "created_at": "2026-05-08T05:00:00.000-07:00",
            "updated_at": None,
            "user_id": "ana",
        },
        {
            "id": "3f1d",
            "memory": "Likes tea",
            "user_id": "ben",
            "created_at": "2026-05-08T05:00:00-07:00",
        },
        {"id": "3f1e", "memory": "  ", "user_id": "ana"},
    ]
}
MESSAGE_LINES = [
    (
        '{"role": "user", "content": "I play the cello.", "session_id": "s1", "timestamp": '
        '"2026-05-08T12:00:00+02:00", "name": "Ana"}'
    ),
    (
        '{"role": "assistant", "content": [{"type": "text", "text": "Since when?"}, {"type": '
        '"image_url"}], "session_id": "s1"}'
    ),
    "",
    "{broken",
    '{"role": "narrator", "content": "Meanwhile"}',
    '{"messages": [{"role": "user", "content": "Hello"}], "conversation_id": "a/b"}',
]
MEMORY_LINES = [
    '{"content": "Ana owns a bicycle", "type": "episodic", "colour": "red"}',
    '{"type": "semantic"}',
    "[]",
]
