"""Words for the people, animals and things that one has, as parts of expressions."""

from __future__ import annotations

CAR = (
    r"(?i:tesla|golf|vw|volkswagen|bmw|audi|mercedes|toyota|honda|ford|skoda|škoda|renault"
    r"|peugeot|fiat|volvo|kia|hyundai|mazda|nissan|opel"
    r"|seat|porsche|mini|subaru|citroen|citroën|dacia|polestar|prius|corolla|civic|passat|polo"
    r"|octavia|yaris|leaf|jeep|lexus|suzuki|chevy|chevrolet"
    r"|camry|rav4|hybrid|suv|campervan|camper van)\b"
)
"""Names of cars."""
COUNTED = (
    "kids|children|sons|daughters|brothers|sisters|siblings|dogs|cats|pets|cars|horses"
    "|grandchildren|grandkids|rabbits|chickens|houses|bikes"
    "|roommates|flatmates|cousins|nieces|nephews"
)
COUNTED_ALONE = (
    rf"(?:{COUNTED})\b(?! (?!(?:always|sometimes|these|this|was|has|does|plus|besides|across|unless"
    r"|whereas|perhaps|yes|thanks|plays|lives|nowadays|as)\b)[a-z]{2,20}s\b)"
)
"""As `COUNTED`, before no noun that is counted itself: "two children processes"."""
HAD = (
    "dog|cat|puppy|kitten|pet|horse|rabbit|hamster|parrot|son|daughter|brother|sister|twin|baby|kid"
    "|child|garden|house|car|bike|motorbike|boat"
    "|piano|guitar|degree|phd|tattoo|licen[cs]e|business|company|shop|greenhouse|allotment|fish"
    "|tortoise|snake|roommate|flatmate|girlfriend"
    "|boyfriend|wife|husband|fiancee?"
)
