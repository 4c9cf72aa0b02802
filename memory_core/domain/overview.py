"""Questions for all that is known of a person, in English, German and Japanese.

For example "What do you know about me?". Such questions share no word with any memory, so no relevance finds anything; what answers
them are the facts, whatever these say.
"""

from __future__ import annotations

import re

from memory_core.domain.sentences import sentences

_MOST_CHARACTERS = 300
"""Of a query that is looked at: a longer message asks for something else besides."""
_KNOW = r"(?:know|remember|recall|remembered|learned|learnt|stored|saved|noted|kept|memorized|memorised|gathered)"
_ENGLISH = (
    rf"what (?:all )?(?:do|did|have|can|else do) you (?:already |actually |still )?(?:have )?(?:tell me )?{_KNOW}(?: so far)?"
    r"(?: (?:about|of) me)?(?: so far| by now| now)?",
    r"(?:please )?(?:can you |could you )?(?:tell|show|give|list|summari[sz]e)(?: me)?(?: about)? (?:everything|all|what|all that|anything)"
    rf"(?: that)? you(?:'ve| have)? {_KNOW}(?: so far)?(?: (?:about|of) me)?(?: so far)?",
    rf"(?:everything|all)(?: that)? you {_KNOW}(?: about me)?",
    r"(?:what|which) (?:facts|information|memories|things|data) do you (?:have|keep|know|hold)(?: stored)?(?: about me| of me| on me)?",
    r"do you (?:know|remember) (?:anything|something) about me",
    r"(?:so )?who am i",
    r"(?:what can you )?tell me about (?:me|myself)",
    r"what do you have on me",
)
_GERMAN = (
    r"was (?:weißt|weisst) du (?:schon |alles |noch |eigentlich |denn )*über mich(?: schon| alles)?",
    r"was hast du (?:dir )?(?:alles |bisher |schon )*(?:über mich |von mir )?(?:gemerkt|gespeichert|behalten|gelernt)",
    r"(?:bitte )?(?:erzähl|erzähle|sag|sage|zeig|zeige|nenn|nenne) mir (?:bitte )?(?:alles|was)(?:,? (?:was|woran) du (?:dich )?|"
    r",? du |,? was du |\s+du )(?:noch |schon |alles )*(?:über mich |von mir )?(?:weißt|weisst|erinnerst|gemerkt hast)",
    r"(?:woran|an was) erinnerst du dich(?: noch)?(?: bei mir)?",
    r"wer bin ich",
)
_JAPANESE = (
    r"(?:私|僕|俺|わたし)(?:について|のこと(?:を|で)?|に関して)(?:は)?(?:何|なに|どんなこと|どれくらい|どこまで|全部)?(?:を|が|か)?(?:知って|覚えて)"
    r"(?:いますか|いる|る|ますか|いる?の|いることを?(?:全部|すべて)?(?:教えて(?:ください)?|話して(?:ください)?))",
    r"(?:私|僕|わたし)について(?:知って|覚えて)いることを?(?:全部|すべて)?(?:教えて|話して)(?:ください)?",
    r"(?:何|なに)を覚えて(?:いますか|いる|る)",
    r"覚えていることを?(?:全部|すべて)?(?:教えて|話して)(?:ください)?",
    r"(?:私|僕)は(?:誰|だれ)(?:です)?か?",
)
_ALL = re.compile("|".join((*_ENGLISH, *_GERMAN, *_JAPANESE)), re.IGNORECASE)


def asks_for_everything(text: str) -> bool:
    """Whether a sentence of a query asks for all that is known of the caller."""
    if len(text) > _MOST_CHARACTERS:
        return False
    return any(_ALL.fullmatch(one.text.replace("’", "'").strip(" \t?!.。？！,;:").casefold()) is not None for one in sentences(text))
