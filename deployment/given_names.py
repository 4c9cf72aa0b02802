"""Makes the table of given names: `python -m deployment.given_names`.

After `pip install faker==40.63.0`. The package itself is no dependency: it has 8 MB and knows much
more than names.
"""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections.abc import Iterator

from memory_core.domain.text.given_names import TABLE
from memory_core.domain.text.towns import form

SHORTEST, LONGEST = 3, 14
"""Letters of a name."""
_LISTS = (
    "first_names",
    "first_names_male",
    "first_names_female",
    "first_names_nonbinary",
    "first_romanized_names",
)
_WORDS = """
    ace add age alle alles als alter among ana and anna are arent art as aud aura aus autor autumn
    baby banks bart beat bee bei bell bent berg beta bin bird blessing bot boss boy boys brain
    branch bren brown buddy bus butler cal cam can candy cannon cap car carry case cash chance
    charity chase cherish china clay come comfort con conn constant council crystal dame dan dann
    dar dawn day dear del delta dem den der desire des destiny dev die dir doc doctor don drew du
    early edit edu ein einer elif elle else era essence eve ever faith fancy fang fares fate fed
    fern fifa floor forest forum foster friend gal gang gauge gen general ging girl girls gold
    grant gray green greet grit gut guy hall ham handy happy har harm harsh haven heaven hella hence
    her hill him hind his hong hope hung ice icy ihm ihr imo ins ist jail january jet job joke
    journey joy judge july june junior just justice kick kid kind king ladies lady lane lawyer lean
    leider less let lie lies light like link little loan lone long lord lore los lot love loyal
    lucky mad made magna mai major mal male man mann mat mate math may mayo media mentor meta mile
    min mine minor mir mit mom mon moon must nail nan nanny nee north not novella now odd off one
    opa oma orange our over own owe page pal park pat patience peace pearl peer pepper per pets ping
    pink pleasant por precious press price prince prior purl queen raid rain ran reason red rice
    rich ridge river rock rocky rogue roll roman rote royal run runny rush sad said sam sang sea see
    sehr sep serenity server shade side sie sin sincere sind sing sister skip sky slay sommer son
    song spring star still stone storm sue summer sun sunday sunny sunshine tab tad tage tat tea
    ten test thai the theres theta ties til till tiny tone too tor toy trace treasure true tue two
    und une uns unique unknown unnamed urban val valid van var vid victory visa von war was wash
    weiß wen wer wert west wie will win windy winter wir wish wood work worth yoga you young zed
    zum zur
"""
"""Names that are more often another word of English or German where no capital shows it."""
_NAMES = "ana anna dan sam sue pat val"
"""Names among these words that are kept."""


def _names() -> Iterator[str]:
    from faker.providers import person  # type: ignore[import-not-found]

    for module in pkgutil.iter_modules(person.__path__):
        provider = importlib.import_module(f"{person.__name__}.{module.name}").Provider
        for attribute in _LISTS:
            names = getattr(provider, attribute, ())
            if isinstance(names, list | tuple | set) or hasattr(names, "keys"):
                yield from (name for name in names if isinstance(name, str))


def main() -> int:
    """Make the table."""
    left_out = set(_WORDS.split()) - set(_NAMES.split())
    forms = {form(name) for name in _names() if name[:1].isupper() and name.isalpha()}
    latin = {name for name in forms if name.isascii() and SHORTEST <= len(name) <= LONGEST}
    names = sorted(latin - left_out)
    TABLE.write_bytes(zlib.compress("\n".join(["", *names, ""]).encode(), 9))
    print(f"{len(names):,} names, {TABLE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
