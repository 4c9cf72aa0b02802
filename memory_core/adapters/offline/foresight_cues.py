"""The table of states that pass by themselves, and how long each usually lasts: "I have a cold" is over in a week.

For sentences that name no time of their own. The days are everyday experience, not medicine. Note: the end
says when to stop believing it, so it is rather late than early.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passing:
    """One row: what a sentence in the present says, and for how many days it is believed."""

    said: re.Pattern[str]
    days: int


def _row(said: str, days: int) -> Passing:
    return Passing(re.compile(rf"\b(?:{said})\b", re.IGNORECASE), days)


PASSING: tuple[Passing, ...] = (
    # illness and injury
    _row(r"food poisoning|stomach bug|upset stomach", 3),
    _row(r"hung ?over", 1),
    _row(r"headache|migraine attack|toothache", 2),
    _row(r"sore throat|a cough|feeling (?:sick|ill|unwell)|am (?:sick|ill)|under the weather", 5),
    _row(r"(?:a|bad|terrible|nasty) cold|caught a cold|runny nose|(?:the )?flu|tonsillitis|a fever|bronchitis|sinus infection", 7),
    _row(r"covid(?:-19)?|corona|chicken ?pox|mumps|on antibiotics", 10),
    _row(r"concussion|back (?:is|went) out|pulled (?:a|my) muscle", 14),
    _row(r"sprained (?:my|an?) \w+|twisted my \w+", 21),
    _row(r"broke(?:n)? (?:my|an?) (?:\w+ )?(?:leg|arm|wrist|ankle|foot|hand|collarbone|finger|toe|rib)|broken \w+|in a cast|on crutches"
        r"|fractured", 42),
    _row(r"recovering from|had (?:\w+ )?surgery|had an operation|in rehab", 42),
    _row(r"in (?:the )?hospital|hospitali[sz]ed", 10),
    # life
    _row(r"(?:am|is|are|got) (?:\w+ ){0,3}pregnant|expecting (?:a baby|twins|our|my)", 280),
    _row(r"(?:maternity|paternity|parental) leave", 365),
    _row(r"sick leave|signed off sick", 14),
    _row(r"(?:on|sabbatical) sabbatical|taking a sabbatical", 180),
    _row(r"on (?:holiday|vacation|leave)|on a (?:trip|cruise|road trip)|travell?ing (?:through|around|in|to)|visiting (?:my|a|the)"
        r"|backpacking", 14),
    _row(r"jet[- ]?lag(?:ged)?", 4),
    _row(r"on (?:a|an?) (?:\w+ )?diet"
        r"|(?:start(?:ed|ing)|began|beginning|doing|trying|going on) (?:(?:a|an|the|my|this) )?(?:(?:new|strict) )?"
        r"(?:low[- ]carb|\w+) diet|intermittent fasting", 30),
    _row(r"fasting (?:today|right now)|am fasting", 2),
    _row(r"training for (?:a|an|the|my)|preparing for (?:a|an|the|my) (?:marathon|race|triathlon|competition|concert)", 90),
    _row(r"(?:studying|revising|preparing|cramming) for (?:my|the|an?) (?:\w+ )?(?:exams?|finals|test|interview)|exam (?:week|period"
        r"|season)", 21),
    _row(r"(?:looking|searching|hunting) for (?:a|an) (?:\w+ )?(?:job|flat|apartment|house|place|roommate)|(?:job|flat|house"
        r"|apartment)[- ]hunting", 90),
    _row(r"between jobs|unemployed|out of work", 90),
    _row(r"(?:moving|packing) (?:house|flat|apartments?|boxes)|in the middle of (?:a|the|my) move", 30),
    _row(r"(?:renovating|redoing|painting) (?:my|our|the) \w+", 60),
    _row(r"planning (?:my|our|a|the) (?:\w+ )?(?:wedding|trip|party|move|holiday|vacation)", 120),
    _row(r"(?:night|late|early) shifts?", 14),
    _row(r"(?:very|so|super|extremely|really) (?:busy|stressed|tired|exhausted)|burn(?:ed|t) out|swamped|on a deadline|crunch time", 7),
    _row(r"staying (?:with|at) (?:my|a|an|the)|house-?sitting|dog-?sitting|cat-?sitting|babysitting", 14),
    _row(r"(?:car|bike|laptop|phone|washing machine|dishwasher|oven|heating|boiler) (?:is|just) (?:broken|broke(?: down)?|in the shop"
        r"|being repaired)", 14),
    # other languages
    _row(r"(?:ich bin|bin) (?:stark |total )?erkältet|habe eine erkältung|suis enrhumée?|un rhume|tengo un resfriado|estoy resfriad[oa]"
        r"|habe (?:die )?grippe", 7),
    _row(r"(?:ich bin|bin) (?:im urlaub|krank)|suis (?:en vacances|malade)|estoy (?:de vacaciones|enferm[oa])", 10),
    _row(r"(?:ich bin|bin) schwanger|suis enceinte|estoy embarazada", 280),
)  # fmt: skip
