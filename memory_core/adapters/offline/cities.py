"""Cities that are known to be ones, for sentences that could as well be about a company: "I left Berlin for Lisbon".

A list of large and well-known ones, not of all; whoever needs to know that something is no city can't learn it here.
"""

from __future__ import annotations

_CITIES = """
    aachen, aarhus, aberdeen, abidjan, abu dhabi, accra, adelaide, ahmedabad, albuquerque, algiers, alicante, amman, amsterdam, ankara,
    antwerp, athens, atlanta, auckland, austin, baghdad, baku, baltimore, bangalore, bengaluru, bangkok, barcelona, basel, bath, beijing,
    beirut, belfast, belgrade, bergen, berlin, bern, bilbao, birmingham, bochum, bogota, bogotá, bologna, bombay, bonn, bordeaux, boston,
    brasilia, bratislava, bremen, brighton, brisbane, bristol, brno, brooklyn, bruges, brussels, bucharest, budapest, buenos aires,
    buffalo, cairo, calgary, cambridge, canberra, cape town, caracas, cardiff, casablanca, charlotte, chennai, chicago, chongqing,
    christchurch, cincinnati, cleveland, cologne, colombo, columbus, copenhagen, cordoba, cork, dakar, dallas, damascus, dar es salaam,
    delhi, denver, detroit, dhaka, doha, dortmund, dresden, dubai, dublin, duisburg, durban, düsseldorf, edinburgh, edmonton, eindhoven,
    erfurt, essen, exeter, florence, frankfurt, freiburg, fukuoka, galway, gdansk, geneva, genoa, ghent, glasgow, gothenburg, granada,
    graz, grenoble, groningen, guadalajara, guangzhou, haifa, hamburg, hanoi, hannover, hanover, havana, heidelberg, helsinki, hiroshima,
    ho chi minh city, hong kong, honolulu, houston, hyderabad, ibadan, indianapolis, innsbruck, istanbul, izmir, jakarta, jeddah,
    jerusalem, johannesburg, kampala, kansas city, karachi, karlsruhe, kathmandu, kiel, kigali, kingston, kinshasa, kobe, kolkata, krakow,
    kraków, kuala lumpur, kuwait city, kyiv, kiev, kyoto, lagos, lahore, las vegas, lausanne, leeds, leicester, leiden, leipzig, lille,
    lima, limerick, linz, lisbon, lisboa, liverpool, ljubljana, lodz, london, los angeles, luanda, lusaka, luxembourg, lviv, lyon, madrid,
    málaga, malaga, malmö, manchester, manila, mannheim, maputo, marrakesh, marseille, medellín, melbourne, memphis, mexico city, miami,
    milan, milwaukee, minneapolis, minsk, monterrey, montevideo, montpellier, montreal, moscow, mumbai, munich, münster, nagoya, nairobi,
    nantes, naples, nashville, new delhi, new orleans, new york, new york city, newcastle, nice, nicosia, nottingham, nuremberg, oakland,
    odessa, oporto, osaka, oslo, ottawa, oxford, padua, palermo, palma, paris, perth, philadelphia, phoenix, pisa, pittsburgh, portland,
    porto, potsdam, prague, pretoria, pune, quebec, quito, rabat, regensburg, rennes, reykjavik, riga, rio de janeiro, riyadh, rome,
    rostock, rotterdam, sacramento, salt lake city, salzburg, san antonio, san diego, san francisco, san jose, santiago, são paulo,
    sao paulo, sapporo, sarajevo, seattle, seoul, seville, shanghai, sheffield, shenzhen, singapore, skopje, sofia, southampton,
    st petersburg, stockholm, strasbourg, stuttgart, sydney, taipei, tallinn, tampa, tampere, tashkent, tbilisi, tehran, tel aviv,
    the hague, thessaloniki, tirana, tokyo, toronto, toulouse, trieste, trondheim, tucson, tunis, turin, turku, tübingen, ulm, uppsala,
    utrecht, valencia, vancouver, venice, verona, vienna, vilnius, warsaw, washington, weimar, wellington, wroclaw, wuhan, würzburg,
    yerevan, yokohama, york, zagreb, zaragoza, zürich, zurich
"""
CITIES = frozenset(" ".join(name.split()) for name in _CITIES.split(","))
