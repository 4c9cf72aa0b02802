"""Sentences that change what is true of a user, and sentences that only look like it.

Each is said by a user of whom `BEFORE` is known. `CHANGES` says what holds afterwards, by the
slot's attribute: a value, or `OVER` where nothing took the old one's place.
Whatever a sentence does not name stays.
"""

from __future__ import annotations

OVER = "over"
BEFORE = (
    "I live in Berlin. I work as a nurse at Siemens. I'm vegetarian. I like olives and ramen. I "
    "eat eggs. I speak German."
)
KNOWN = {
    "home city": "Berlin",
    "occupation": "nurse",
    "employer": "Siemens",
    "diet": "vegetarian",
    "opinion of olives": "likes",
    "opinion of ramen": "likes",
    "eats eggs": "yes",
    "speaks german": "yes",
}
_LISBON, _JOBLESS = {"home city": "Lisbon"}, {"employer": OVER, "occupation": OVER}
_AWAY, _SIEMENS = {"home city": OVER}, {"employer": OVER}

CHANGES: list[tuple[str, dict[str, str]]] = [
    ("I left Berlin for Lisbon.", _LISBON),
    ("We left Berlin for Lisbon in March.", _LISBON),
    ("I relocated to Lisbon.", _LISBON),
    ("My home is in Lisbon.", _LISBON),
    ("My new home is Lisbon.", _LISBON),
    ("I'm based in Lisbon now.", _LISBON),
    ("I have settled in Lisbon.", _LISBON),
    ("I just moved into a flat in Lisbon.", _LISBON),
    ("By the way, I moved to Lisbon.", _LISBON),
    ("I moved from Berlin to Lisbon because of the weather.", _LISBON),
    ("I don't live in Berlin anymore, I live in Lisbon.", _LISBON),
    ("I used to live in Berlin, but now I live in Lisbon.", _LISBON),
    ("i moved to lisbon", _LISBON),
    ("I no longer live in Berlin.", _AWAY),
    ("I don't live in Berlin any more.", _AWAY),
    ("I moved away from Berlin.", _AWAY),
    ("I've moved out of Berlin.", _AWAY),
    ("I left Berlin for good.", _AWAY),
    ("We're no longer based in Berlin.", _AWAY),
    ("I quit my job.", _JOBLESS),
    ("I've just quit my job!", _JOBLESS),
    ("I got laid off.", _JOBLESS),
    ("I was made redundant last month.", _JOBLESS),
    ("I lost my job in May.", _JOBLESS),
    ("I resigned yesterday.", _JOBLESS),
    ("I got the sack.", _JOBLESS),
    ("They laid me off.", _JOBLESS),
    ("My company let me go last week.", _JOBLESS),
    ("I've been out of work since May.", _JOBLESS),
    ("I'm unemployed now.", _JOBLESS),
    ("I retired last year.", _JOBLESS),
    ("I no longer work at Siemens.", _SIEMENS),
    ("I don't work for Siemens anymore.", _SIEMENS),
    ("I resigned from Siemens.", _SIEMENS),
    ("I quit my job at Siemens.", _SIEMENS),
    ("I got fired by Siemens.", _SIEMENS),
    ("I stopped working for Siemens.", _SIEMENS),
    ("I quit my job at Siemens and joined Contoso.", {"employer": "Contoso"}),
    ("I work at Contoso now, since I was laid off.", {"employer": "Contoso", "occupation": OVER}),
    ("I'm no longer a nurse.", {"occupation": OVER}),
    ("I'm not vegetarian anymore.", {"diet": OVER}),
    ("I am no longer a vegetarian.", {"diet": OVER}),
    ("I stopped being vegetarian.", {"diet": OVER}),
    ("I went vegan.", {"diet": "vegan"}),
    ("I don't eat eggs any more.", {"eats eggs": "no"}),
    ("I stopped eating eggs.", {"eats eggs": "no"}),
    ("I gave up eggs.", {"eats eggs": "no"}),
    ("I don't like olives anymore.", {"opinion of olives": "dislikes"}),
    ("I no longer like olives.", {"opinion of olives": "dislikes"}),
]
NO_CHANGES: list[str] = [
    # nonsense
    "Berlin Berlin Berlin",
    "Lisbon! Lisbon? Lisbon…",
    "asdf qwer no longer zxcv",
    "no longer any more quit",
    "job job job quit job",
    # questions
    "Did I quit my job?",
    "Should I leave Berlin for Lisbon?",
    "I moved to Lisbon?",
    "What if I moved to Lisbon?",
    "Do you think I still like olives?",
    # suppositions
    "If I moved to Lisbon, I would miss Berlin.",
    "I might quit my job.",
    "I could leave Siemens any day.",
    "Suppose I got laid off.",
    "Maybe I'm no longer vegetarian.",
    "I almost quit my job.",
    "I nearly moved to Lisbon.",
    "I wish I lived in Lisbon.",
    "Imagine I no longer work at Siemens.",
    # dreams and stories
    "I dreamt that I moved to Lisbon.",
    "Last night I dreamed I quit my job.",
    "I had a dream, I moved to Lisbon.",
    "In my dream, I quit my job.",
    "In the novel, I moved to Lisbon.",
    "I moved to Lisbon in the game.",
    "I pretended I quit my job.",
    # others' words and lives
    "Anna said she moved to Rome.",
    "Anna moved to Rome.",
    "Anna said: I moved to Rome.",
    '"I quit my job", said Tom.',
    "My sister quit her job.",
    "My brother no longer lives in Berlin.",
    "They no longer work at Siemens.",
    "You don't live in Berlin anymore.",
    # plans
    "I'm going to move to Lisbon next month.",
    "I'm moving to Lisbon in June.",
    "I will quit my job soon.",
    "I want to leave Berlin for Lisbon.",
    "I plan to resign from Siemens.",
    "I'm thinking about quitting my job.",
    # denied, or about something else
    "I didn't quit my job.",
    "I have not moved to Lisbon.",
    "I never left Berlin for Lisbon.",
    "I don't want to live in Berlin anymore.",
    "I can't work at Siemens anymore, it is too loud.",
    "I joked that I quit my job.",
    "I no longer live in Hamburg.",
    "I resigned from Fabrikam.",
    "I'm not vegan anymore.",
    "I don't like capers anymore.",
    "I no longer work full-time at Siemens.",
    "I no longer live with my parents in Berlin.",
    "I left Berlin for the weekend.",
    "I left work early today.",
    "I quit smoking.",
    "I flew from Berlin to Lisbon.",
    "The meeting moved to Lisbon.",
    "They laid Tom off.",
    "I quit my old job before I came here.",
    "I moved the sofa from Berlin to Lisbon.",
    "I was fired up about the match.",
    "I retired to bed.",
    "My home is in chaos.",
]
