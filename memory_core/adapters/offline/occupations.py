"""Words for occupations, and for the end of a job in German and Japanese."""

from __future__ import annotations

from memory_core.domain.text.spelling import ANY_GERMAN_MONTH

_TRADES = """
    accountant actor actress analyst architect artist attorney author baker banker barber barista
    bartender biologist bookseller builder butcher carer carpenter cashier chef chemist cleaner
    clerk coach composer consultant contractor cook dancer dentist designer developer director
    doctor driver economist editor electrician engineer entrepreneur farmer firefighter florist
    freelancer gardener geologist hairdresser historian housewife illustrator instructor interpreter
    janitor jeweller journalist judge lawyer lecturer librarian lifeguard locksmith manager
    mathematician mechanic midwife model musician nurse nanny optician painter paramedic pastor
    pensioner pharmacist photographer physicist physiotherapist pilot plumber policeman policewoman
    postman potter priest producer professor programmer psychiatrist psychologist receptionist
    recruiter reporter researcher roofer sailor salesman salesperson scientist secretary singer
    soldier statistician student surgeon surveyor tailor teacher technician therapist toolmaker
    trainer translator tutor vet lead supervisor coordinator specialist officer assistant intern
    apprentice trainee executive administrator bookkeeper copywriter veterinarian violinist
    volunteer waiter waitress web-developer welder writer lehrer lehrerin arzt ärztin ingenieur
    ingenieurin student studentin bäcker krankenpfleger professeur infirmier infirmière médecin
    ingénieur étudiant étudiante boulanger profesor profesora médico médica ingeniero ingeniera
    enfermera enfermero estudiante panadero
"""
JOBS = frozenset(_TRADES.split())
"""Jobs of a single word, in English and a few of other languages."""
GERMAN_TRADE = (
    r"\b(?:(?:[A-ZÄÖÜ][\wäöüß-]{0,20})?(?i:lehrer|pfleger|ingenieur|informatiker|techniker"
    r"|mechaniker|mechatroniker|elektriker|elektroniker|installateur|klempner|tischler|schreiner|zimmermann"
    r"|maurer|maler|dachdecker|gärtner|florist|bäcker|metzger|konditor|kellner|erzieher|betreuer"
    r"|sozialarbeiter|pädagoge|verkäufer|kaufmann|buchhalter|steuerberater|berater|makler|anwalt"
    r"|notar|richter|polizist|soldat|pilot|schaffner|lokführer|busfahrer|taxifahrer|lkw-fahrer"
    r"|kraftfahrer|friseur|kosmetiker|arzt|chirurg|apotheker|psychologe|therapeut|physiotherapeut"
    r"|logopäde|architekt|designer|grafiker|fotograf|journalist|redakteur|übersetzer|dolmetscher"
    r"|programmierer|entwickler|laborant|chemiker|physiker|biologe|wissenschaftler|professor|dozent"
    r"|student|landwirt|schlosser|schweißer|lagerist|hausmeister|sekretär|assistent|bibliothekar"
    r"|musiker|schauspieler|hebamme|trainer|abteilungsleiter|filialleiter|schichtleiter|optiker"
    r"|goldschmied|uhrmacher|beamter|beamtin)(?:in)?|(?:[A-ZÄÖÜ][\wäöüß-]{0,20})?(?i:ärztin|anwältin"
    r"|köchin|koch|krankenschwester|kauffrau|fachkraft|psychologin|pädagogin|logopädin|biologin)"
    r"|[a-zäöü]{3,20}(?:pfleger|lehrer|ingenieur|fahrer|verkäufer|berater|entwickler|helfer"
    r"|techniker|mechaniker)(?:in)?|MFA|PTA|ZFA)"
)
"""Words that name an occupation after "ich bin"."""
NOT_AS_EMPLOYER = (
    r"(?!(?:\w*(?:[Ll]icht|[Ss]chein|[Ww]etter|[Tt]emperatur(?:en)?)|Nacht|Tag|Regen|Musik|Hitze"
    r"|Kälte|Schnee|Wind|Bedarf|Gelegenheit)\b(?! [A-ZÄÖÜ]))"
)
"""Not before circumstances of work: "bei Kerzenlicht"; "Flutlicht GmbH" is a company."""
_WHEN_IT_ENDED = (
    r"(?: (?:gerade|heute|gestern|endlich|jetzt|nun|leider|inzwischen|(?:letzte|diese|vorige)[nrs]?"
    rf" \w+|(?:im|zum) {ANY_GERMAN_MONTH}|vor \w+ \w+|seit \w+(?: \w+)?)){{0,3}}"
)
_JOB = r"(?:(?:meinen|den) (?:Job|Arbeitsplatz)|(?:meine|die) (?:Stelle|Arbeit|Anstellung))"
GERMAN_JOBLESS = (
    rf"\b(?:(?:habe?)(?: ich)?{_WHEN_IT_ENDED} {_JOB}{_WHEN_IT_ENDED} (?:gekündigt|verloren"
    r"|aufgegeben|geschmissen|hingeschmissen|verlassen)"
    rf"|(?:[Mm]ir wurde|wurde mir) der Job{_WHEN_IT_ENDED} gekündigt\Z"
    rf"|(?:ich wurde|wurde ich|ich bin|bin ich){_WHEN_IT_ENDED} gefeuert(?: worden)?\Z"
    rf"|(?:ich bin|bin ich){_WHEN_IT_ENDED} (?:arbeitslos|ohne Job|in Rente|in Pension"
    r"|im Ruhestand|pensioniert|Rentner(?:in)?))(?= |\Z)"
)
JAPANESE_TRADE = (
    r"(?:エンジニア|看護師|教師|先生|医者|医師|デザイナー|会社員|公務員|学生|大学生|主婦|主夫|美容師|料理人|弁護士"
    r"|プログラマー|営業|経理|人事|事務|研究者|運転手|保育士|薬剤師|介護士|調理師|警察官|消防士|スタッフ|店員|ライター|フリーランス"
    r"|自営業|staff|teacher|engineer|nurse|designer)"
)
JAPANESE_JOB = r"(?:会社|仕事|職場|勤め先|勤務先|バイト|アルバイト|パート)"
JAPANESE_JOBLESS = (
    rf"(?:\A|、|は|に|で|月|年|週|日){JAPANESE_JOB}を(?:辞め|やめ|退職し|クビに)"
    r"|(?:\A|、|は|に|で|限りで)(?:退職し|失業し|定年を迎え|リストラされ|解雇され)(?:まし|た|て)"
)
