"""Words for what becomes of something expected, in English, German and Japanese.

It is called off, put to another time, missed, or was told wrongly. All rules that read such words
make their expressions of these alternatives.
"""

from __future__ import annotations

import re

CANCELLED_IN_ENGLISH = "cancell?ed|called off"
CANCELLED_IN_GERMAN = (
    "abgesagt|storniert|gecancelt|ausgefallen|geplatzt|gestrichen|abgeblasen|flachgefallen"
    r"|ins wasser gefallen|entfällt|entfiel|findet (?:[\w-]+ ){0,4}nicht statt"
    r"|(?:fällt|fallen|fiel|fielen) (?:[\w-]+ ){0,4}(?:aus|flach|ins wasser)"
)
CANCELLED_IN_JAPANESE = "キャンセル|中止|取りやめ|取り消"
PUT_ELSEWHERE_IN_ENGLISH = (
    "rescheduled|postponed|rearranged|rebooked|moved (?:up|back|forward)|brought forward"
    "|pushed back|deferred"
)
PUT_ELSEWHERE_IN_GERMAN = "verschoben|vertagt|verlegt|vorverlegt|vorgezogen|geändert"
PUT_ELSEWHERE_IN_JAPANESE = "変更|延期|順延|ずれ"

_CANCELLED = (
    rf"{CANCELLED_IN_ENGLISH}|cancel(?:l?ing|s)|call(?:ing|s)? off|scrapped"
    r"|(?:(?<!to )|(?:had|have|has|got|decided|going) to )cancel"
    r"|(?:is|are) (?:now |all )?off\b(?! (?:to|the|of)\b)"
    r"|(?:isn't|aren't|not) (?:happening|taking place|going ahead)|won't (?:happen|take place)"
    rf"|{CANCELLED_IN_GERMAN}|absagen|stornieren|(?:sagt|sage|sagte) (?:[\w-]+ ){{0,4}}ab"
)
_IN_JAPANESE = rf"{CANCELLED_IN_JAPANESE}|休講|なくなりまし|なくなった"
CANCELLED = re.compile(rf"\b(?:{_CANCELLED})\b|{_IN_JAPANESE}", re.IGNORECASE)
"""Words that say that something does not take place."""
MISSED = re.compile(
    rf"\b(?:{_CANCELLED}|(?:gave|given) (?:[\w'-]+ ){{1,3}}a miss|skipped|missed|didn't make"
    rf"|geschwänzt|verpasst)\b|{_IN_JAPANESE}|休み|休ん",
    re.IGNORECASE,
)
"""Words for an event that does not take place this once, or without the speaker."""
PUT_ELSEWHERE = re.compile(
    rf"\b(?:{PUT_ELSEWHERE_IN_ENGLISH}|moved|shifted|pushed|brought|put|delayed|changed"
    rf"|{PUT_ELSEWHERE_IN_GERMAN})\b|{PUT_ELSEWHERE_IN_JAPANESE}|変わ(?:り|っ)",
    re.IGNORECASE,
)
"""Words that say that something takes place at another time."""
PUT_OFF = re.compile(
    r"\b(?:postponed|postponing|rescheduled|deferred|(?:put|pushed) (?:[\w'-]+ ){0,4}?"
    r"(?:off(?! by\b)|back)|(?:had|have|has) to (?:postpone|reschedule|put off)"
    r"|verschoben|vertagt|(?:muss|musste|müssen|mussten) (?:[\w-]+ ){1,6}verschieben"
    r"|verschieb(?:t|en) sich)\b|延期|順延",
    re.IGNORECASE,
)
"""Words that say that something does not take place at its time, whatever the new time is."""
IN_GENERAL = re.compile(
    r"\b(?:can(?!'t|not)|(?-i:may)|possible|often|always|usually|sometimes|ever|(?:an?|for|any)"
    r" cancell?ed|last (?:year|month|time)|hop(?:e|es|ing)|afraid|kann|können|darf|dürfen|immer|oft"
    r"|manchmal|meistens|letzte[ns] (?:jahr|monat|mal)|hoffe\w*)\b"
    r"|よく|いつも|たまに|去年|前回|先月",
    re.IGNORECASE,
)
"""Words of sentences about what may happen, or happened at another time."""
DENIED_WITHIN = re.compile(r"\b(?:nie|niemals|nicht|never)\b(?! statt)", re.IGNORECASE)
DENIED_AFTER = re.compile(
    r"[^、。]{0,8}(?:な(?:い|かった)|ません|でき|たい|たら|れば|かも|か[。？]?\Z)"
)
"""Words that deny a word of these lists, within it and after it."""

EXCUSES = "sorry|oops|wait|warte|actually|correction|quatsch|entschuldigung|nee|korrektur"
"""Words with which a person takes back what they just said."""
_CORRECTING_WORDS = """
    no nope not rather wrong mistake instead now after all
    nein ne nicht sondern falsch doch jetzt nun vertan versprochen stimmt
"""
CORRECTING_WORDS = frozenset((*EXCUSES.split("|"), *_CORRECTING_WORDS.split()))
"""Words of a sentence that corrects, which add nothing to it."""
MISTAKES = re.compile(
    r"\b(?:mean|meant|meinte|gemeint|quatsch|falsch|wrong|correction|mistake|korrektur|vertan"
    r"|versprochen)\b|違|訂正",
    re.IGNORECASE,
)
"""Words that say that what was told before is wrong."""
OWN_MISTAKE = re.compile(
    rf"\A(?:(?:{EXCUSES}|no|oh|ah)\b[\s,.!:;–—-]{{1,3}})?(?:I (?:told you (?:rubbish|nonsense"
    r"|wrong|something wrong|the wrong thing)|was wrong|got (?:it|that) wrong|made a mistake)"
    r"|my mistake|ich habe? (?:mich (?:vertan|geirrt)|(?:dir )?(?:gestern )?"
    r"(?:quatsch|unsinn|etwas falsches) (?:erzählt|gesagt)))"
    r"(?: yesterday| last time| earlier| before| gestern)?(?=[,.!;:]|\Z)"
    r"|\A(?:(?:すみません|ごめん(?:なさい)?|あ)、)?(?:昨日|先日|さっき|前回|この前)?(?:は|の話)?、?"
    r"(?:言い)?間違(?:えました|えて(?:い|しまい)ました|えてた|えた|いでした)[。、！!]",
    re.IGNORECASE,
)
"""Opens a sentence in which a person says that they told something wrongly."""
CORRECTS_IN_JAPANESE = re.compile(
    "いや|いえ|間違(?:えました|えた|えて|いでした|い|え)?|違います|違った|違う|訂正(?:です|します)?|すみません"
    "|ごめん(?:なさい)?|やっぱり|やはり|ではなく|じゃなくて|正しくは|本当は"
)
