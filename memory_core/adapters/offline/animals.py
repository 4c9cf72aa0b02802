"""Animals that people have, and the rows for them in German and Japanese.

An animal with a name fills a slot of its own ("pet bello": Hund), so that "Bello ist gestorben"
ends it without a word for the animal.
"""

from __future__ import annotations

import re

from memory_core.adapters.offline.clause_facts import Row
from memory_core.domain.truth.slots import NO_LONGER

MY = r"(?:mein|meine|unser|unsere|meiner|meinem|meinen|unserer|unserem|unseren)"
OWN = (
    rf"{MY} "
    r"(?:(?:neue|neuer|kleine|kleiner|große|großer|ältere|älterer|jüngere|jüngerer|jüngste|jüngster"
    r"|älteste|ältester|alte|alter|zweite|zweiter) )?"
)
"""What German sentences say before a relative or an animal of the speaker's."""
ANIMAL = (
    "(?i:hund|hündin|welpen?|katze|kater|kätzchen|pferd|pony|hamster|kaninchen|wellensittich"
    "|papagei|meerschweinchen|schildkröte)"
)
_DEAD = (
    "(?:gestorben|verstorben|tot|eingeschläfert|weggelaufen|entlaufen"
    "|(?:für immer|friedlich|sanft) eingeschlafen|über die Regenbogenbrücke gegangen)"
)
_PET = r"[A-ZÄÖÜ][a-zäöüß]{1,20}"
GERMAN_PETS: tuple[Row, ...] = (
    Row(
        "pet {value}",
        rf"(?!.{{0,80}}{_DEAD})\b{OWN}(?P<of>{ANIMAL}) (?:heißt "
        rf"|namens )(?P<value>{_PET})(?= |,|\Z)"
        rf"|\b(?:hat|haben|habe) (?:ich |wir )?(?:eine?n? )(?P<of2>{ANIMAL}) (?:namens|der|die"
        rf"|das) (?:heißt )?(?P<value2>{_PET})(?: heißt)?",
        filled="{of}",
    ),
    Row(
        "pet {value}",
        rf"\A(?:{OWN}{ANIMAL} )?(?P<value>{_PET}) (?:ist|wurde|musste)\b.{{0,30}} "
        rf"{_DEAD}(?: worden| werden)?\Z"
        rf"|\b(?:habe|haben|mussten?) (?:ich |wir )?(?P<value2>{_PET}) (?:nicht mehr\Z"
        r"|(?:leider )?(?:verloren|weggeben|abgeben|weggegeben|abgegeben|einschläfern))",
        filled=NO_LONGER,
        denies=True,
    ),
    Row(
        "number of pets",
        r"\b(?:habe?|haben)(?: ich| wir)? (?:\w+ )?keine? Haustiere?\b",
        filled="0",
        denies=True,
    ),
    Row(
        "number of pets",
        rf"\b(?:habe|haben)(?: ich| wir| uns| mir){{0,2}}\b.{{0,20}} eine?n? (?:\w+ )?{ANIMAL} "
        r"(?:geholt|gekauft|adoptiert|angeschafft|zugelegt|aufgenommen|bekommen)"
        rf"|\b(?:habe|haben)(?: ich| wir)? jetzt eine?n? (?:\w+ )?{ANIMAL}\b",
        filled=NO_LONGER,
    ),
)
IN_ENGLISH = (
    "dog|cat|puppy|kitten|horse|pony|rabbit|hamster|guinea pig|parrot|budgie|tortoise|snake|hen"
    "|goat"
)
BREED = (
    "beagle|terrier|labrador|retriever|spaniel|poodle|collie|sheepdog|dachshund|bulldog|corgi"
    "|whippet|greyhound|husky|pug|cockapoo|labradoodle|tabby|ragdoll|siamese|maine coon|mongrel"
)
"""Kinds of dogs and cats that stand for the animal: "a beagle called Milo"."""
IN_JAPANESE = "愛犬|愛猫|子犬|子猫|犬|猫|ペット"
_ALIVE_JA = "(?!.{0,80}(?:亡くな|死に|死ん|天国|旅立|虹の橋|永眠))"
JAPANESE_PETS: tuple[Row, ...] = (
    Row(
        "pet {value}",
        rf"{_ALIVE_JA}(?:うち|我が家|私|僕)の(?P<of>{IN_JAPANESE})の(?P<value>[ぁ-んァ-ヶー]{{2,8}}?)(?=[はがも、])"
        r"|(?P<of2>[ァ-ヶー一-龯]{0,6}[犬猫])の(?P<value2>[ぁ-んァ-ヶー]{2,8}?)、?生後",
        filled="{of}",
        denies=True,
    ),
    Row(
        "pet {value}",
        rf"(?P<of>{IN_JAPANESE})の名前は(?P<value>[^、。]{{1,30}}?)(?:です|だ|と|\Z)"
        rf"|(?P<of2>{IN_JAPANESE})は(?P<value2>[^、。はが\s]{{1,8}})(?:という名前|といいます|と言います)",
        filled="{of}",
    ),
    Row(
        "pet {value}",
        rf"{_ALIVE_JA}(?:\A|、)(?:うちで)?(?P<value>[ぁ-んァ-ヶー]{{2,8}}?)(?:って|と)いう(?P<of>{IN_JAPANESE})"
        r"を飼って(?:い)?(?:ます|る)",
        filled="{of}",
    ),
    Row(
        "pet {value}",
        rf"(?:\A|、)(?:(?:昨日|昨夜|今朝|今日|先週|先月)、?)?(?:(?:{IN_JAPANESE})の)?(?P<value>[ぁ-んァ-ヶー]{{2,8}}?)(?:が|は)[^、。]{{0,12}}"
        r"(?:亡くな|死に|死ん|天国|旅立|虹の橋を渡|永眠|逃げ)",
        filled=NO_LONGER,
    ),
    Row(
        "number of pets",
        r"ペットは?(?:飼って(?:い)?(?:ません|ない)|い(?:ません|ない))",
        filled="0",
        denies=True,
    ),
    Row(
        "number of pets",
        rf"(?:{IN_JAPANESE})を(?:飼って(?:い)?(?:ます|る)|飼い始め|迎え(?!に)|もらい|引き取)",
        filled=NO_LONGER,
    ),
)


_ANIMAL = re.compile(rf"(?i:{ANIMAL}|(?:{IN_ENGLISH})s?|baby (?:{IN_ENGLISH})|{IN_JAPANESE})")


def is_animal(kind: str) -> bool:
    """Whether a word of one of the languages is for an animal that people have."""
    return _ANIMAL.fullmatch(kind) is not None
