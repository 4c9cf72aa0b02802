"""Words by which `changes` reads that something is over, otherwise now, or of another value. English, German, Japanese; case-folded."""

from __future__ import annotations

import re
from typing import NamedTuple

from memory_core.domain.calendar_names import (
    ANY_GERMAN_MONTH,
    ANY_MONTH,
    ANY_WEEKDAY,
    GERMAN_MONTHS,
    GERMAN_WEEKDAYS,
    MONTHS,
    PLAIN_MONTHS,
    WEEKDAYS,
)
from memory_core.domain.text import terms_of

_OVER = (
    "scrapped|axed|binned|ditched|dumped|donated|shelved|abandoned|terminated|discarded|pawned|totall?ed|wrecked|removed|uninstalled"
    "|dismantled|decommissioned|phased out|withdrawn|revoked|suspended|put on (?:hold|ice)|let go|sacked|dismissed|nicked|pinched"
    "|towed|demolished|knocked down|torn down|destroyed|eliminated|dissolved|disbanded|abolished|wound up|superseded|succeeded"
    "|taken (?:off|down|over)|thrown (?:out|away)|given away|written off|turned down|disconnected|deactivated|unplugged|euthani[sz]ed"
    "|rehomed|sold(?! out)|closed down|shut down|dropped|retired|returned|repossessed|broken off"
)
"""Participles of what is over: "was …", "got …", "had it …"."""
_ALTERED = (
    "renamed|rescheduled|postponed|shortened|lengthened|extended|refinanced|rebooked|reassigned|rearranged|relocated|renegotiated"
    "|redecorated|repainted|reset|converted|merged|split up|outsourced|moved (?:up|back|forward)|brought forward|pushed back"
)
"""Participles of what goes on otherwise."""
ALTERED = re.compile(rf"\b(?:{_ALTERED}|rename|reschedule|postpone|shorten|extend|rebook|reset)\b", re.IGNORECASE)
ENDS_OF_OBJECT = re.compile(
    rf"\b(?:(?:I|we|I've|we've|have|just|finally|also) (?:{_ALTERED})|(?:put an end to|put a stop to|called time on"
    rf"|had enough of|lost interest in|fed up with|(?:didn't|not|never) renew\w*|ended(?= (?:my|our|the)\b))|had to (?:rename"
    rf"|reschedule|postpone|shorten|extend"
    rf"|rebook|reset|rehome"
    r"|scrap|shelve|abandon|axe|let go of|withdraw from|step down from|drop out of|back out of|close|shut down|sell off)"
    r"|outgrown|outgrew|(?:taken|took|takes|taking) over|traded|exchanged|no longer (?:on|with|at|in)|kicked out of"
    r"|grown out of|grew out of"
    r"|couldn't (?:stand|keep up with|get through|afford)|gone off|went off|blew|used up|grounded"
    r"|scrapped|axed|binned|dumped|donated|shelved|abandoned|terminated|pawned|totall?ed|wrecked|parted (?:ways )?with|chucked(?: out)?"
    r"|tossed(?: out)?|sold off|wrote off|weaned (?:myself )?off|tapered off|stepped (?:down|back|away) from|dropped out of"
    r"|graduated from"
    r"|withdrew from|backed out of|bailed on|opted out of|walked away from|phased out|decommissioned|decided against|decided not to \w+"
    r"|swore off|sworn off|cut ties with|moved on from|moved off|broke (?:things|it) off with|divorced|sacked|left behind|wrapped up"
    r"|through with|(?:am|'m|are|'re|been) off|(?:haven't|hasn't|have not|has not|hadn't) (?=\w+ed\b|had\b|eaten\b|drunk\b"
    r"|touched\b|been\b)|out of the running for|stopped (?:taking|using|going to|seeing|doing|eating|drinking)"
    r"|took over (?:[\w'-]+ ){1,4}from"
    r"|in place of|turned down|kicked|kicked the habit of|outgrew|shut down|closed|disbanded|lost the|broke (?:the|my|our)"
    r"|smashed (?:the|my|our)|crashed (?:the|my|our)|rehomed|gave notice (?:on|at|to)|bowed out of|(?:pulled|dropped) the plug on"
    r"|(?:dropped|scrapped|abandoned|given up) the (?:idea|plan|thought) of|moved out(?= of)|checked out of|let go of|logged off"
    r"|sold|cancell?ed|ditched|dropped|quit|quitting|(?:gave|given|giving|gives) up|(?:got|getting|gotten) rid of|threw (?:out|away)"
    r"|gave away|stopped|returned|replaced|swapped|traded in|handed in|handed (?:back|over)|cut out|pulled out of|moved out of"
    r"|moved away from|unsubscribed from|resigned from|retired from|(?:said|say) goodbye to|(?:broke|split) up with|deleted|uninstalled"
    r"|done with|no longer|instead of|rather than|switched (?:away )?from|moved (?:over )?from|changed from|migrated (?:off|from)|left"
    r"|lost (?:my|our)|called off|no more|over with|(?:switched|changed|migrated) (?:[\w'-]+ ){1,4}from|got fired from"
    r"|laid off from|(?:gone|went|come|came) off|don't|do not|doesn't|can't|isn't|aren't|won't|not|no)\b"
    r"|\bhanded(?= (?:[\w'-]+ ){1,4}over\b)|\b(?:had|decided|managed) to (?:sell|cancel|give up|drop|stop|pull out of|cut out|quit|leave"
    r"|get rid of"
    r"|say goodbye to|part with|return|replace|give away|put down)\b|\b(?:days?|weeks?|months?|years?) (?:\d+ )?without\b",
    re.IGNORECASE,
)
"""What follows within a clause is over; after the last six of them only with "any more"."""
LEFT = re.compile(
    r"\s(?:my |our |the )?[\w'’.-]{1,40}(?: (?!an?\b|at\b|in\b|on\b|early\b|late\b|open\b|behind\b)[\w'’.-]{1,40})?"
    r"(?:\W{0,3}$|\W{1,3}(?:for(?! (?:the|a)\b)|last|after|to|and|because|two|three|a (?:week|month|year) ago)\b)",
    re.IGNORECASE,
)
"""What follows "left" where it is a parting for good: a company, not a coat in a room, and not an hour late."""
SPLIT_END = re.compile(
    r"\b(?:(?:traded|trading|traded) (?P<traded>(?:[\w'.-]+ ){1,4}?)in|(?:let|letting) (?P<let>(?:[\w'.-]+ ){1,4}?)(?:lapse"
    r"|expire|go|slide)"
    r"|(?:gave|given|giving) (?P<gave>(?:[\w'.-]+ ){1,4}?)(?:up|away|back)|(?:threw|thrown|chucked|tossed) (?P<threw>(?:[\w'.-]+ ){1,4}?)"
    r"(?:out|away)|(?:sent|brought) (?P<sent>(?:my |our |the )(?:[\w'.-]+ ){1,3}?)back|shut (?P<shut>(?:[\w'.-]+ ){1,4}?)down"
    r"|(?:called|broke) (?P<called>(?:[\w'.-]+ ){1,4}?)off|(?:put|had) (?P<put>(?:[\w'.-]+ ){1,4}?)(?:to sleep|on hold|on ice)"
    r"|(?:gave|given) (?P<rest>(?:[\w'.-]+ ){1,4}?)a (?:rest|miss)|gave (?P<gift>(?:my |our "
    r"|the )(?:[\w'.-]+ ){1,3}?)to (?=my|our|a|the|(?-i:[A-Z]))"
    rf"|(?:had|got|getting|having) (?P<had>(?:my|the|our|his|her|that) (?:[\w'.-]+ ){{1,4}}?)(?:{_OVER}|replaced|cancell?ed|stolen))\b",
    re.IGNORECASE,
)
"""A verb of ending around its object: "traded the Civic in", "had the boiler replaced"."""
CHANGED_WHAT = re.compile(
    r"\b(?:(?:changed|switched|swapped|renamed) (?:my |our |the |its |his |her )?|(?:(?:got|have|has|am|is|are) (?:now )?(?:an? |at an? "
    r"|in an? )?different|\A\W{0,9}(?:\w+\W{1,3}){0,4}wrong) )(?P<what>[^\W\d_]{3,20})\b",
    re.IGNORECASE,
)
"""What it is that is another one now: "I switched dentists", "sorry, wrong room"."""
AGAIN = re.compile(r"\b(?:again|wieder|back (?:on|to|at))\b|(?:また|再び|復帰|再開)", re.IGNORECASE)
BEGINS = re.compile(r"\b(?:started|began|begun|gone back|went back|taken up|took up|picked up|angefangen)\b|(?:始め|再開)", re.IGNORECASE)
NOT_SO = re.compile(
    r"n't\b|\b(?:not|no|never|quit|stopped|gave up|without|kein\w{0,2}|nicht|nie|ohne)\b|(?:ない|ません|やめ|辞め)", re.IGNORECASE
)
_EVENTS = """
    wedding trip deal party meeting holiday vacation engagement visit concert match game date flight project launch event tour sale
    picnic barbecue dinner move merger race hike cruise plan plans interview appointment surgery reunion conference workshop
"""
EVENTS = frozenset(_EVENTS.split())
"""What is "off" when it does not take place; a lamp is off for the moment."""
ENDS_OF_SUBJECT = re.compile(
    rf"\b(?:(?:was|is|were|are|got|get|been|being|gets) (?:\w+ly |just |finally |now )?(?:{_OVER}|{_ALTERED}|discharged"
    rf"|cured|elected|appointed|transferred|promoted|outvoted|taken)"
    r"|(?:am|are) no longer|isn't any ?more|(?:is|are|'s) (?:finally |now |all )?(?:off|out|over|done|finished|gone)(?=\W*$)"
    r"|(?:ran|flew|wandered) (?:away|off)(?=\W*$)|didn't (?:survive|make it|come back)"
    r"|bailed|flaked|ghosted|in my place|couldn't make it|(?:has|have) been (?:moved|switched|put)|is through with|got (?:cut|canned)"
    r"|burn(?:ed|t) (?:down|out)|kicked the bucket|crossed the rainbow bridge|bit the dust|packed (?:up|it in)|conked out"
    r"|went out of business|(?:has|have|had)? ?folded(?=\W*$)|(?:is|are) (?:now |all )?(?:off|history|on hold|on ice|kaput|toast)"
    r"(?=\W*$| (?:because|since|for now|until)\b)|lapsed|expired|ran out(?=\W*$)|came off|fell apart|called it quits"
    r"|went (?:our|their) separate ways|parted ways|stepped (?:down|aside|back)|dropped out|pulled out|bowed out|backed out|ran away"
    r"|was let go|went missing|vanished|disappeared|stopped working|died on me|gave out|has (?:died|passed|ended|closed|gone|quit|left"
    r"|retired|folded|stopped)|have (?:died|ended|closed|left|quit|stopped)|fizzled out|came to an end|wrapped up|called off"
    r"|graduated|got divorced|(?:is|are) getting (?:a )?divorced?|got (?:married|hitched)|tied the knot|(?:is|are) (?:divorced|separated)"
    r"|died|passed away|passed on|moved (?:out|away|on)|quit|retired|resigned|is gone|are gone|is over|is dead|no more"
    r"|(?:was|is|were|are|got|been|has been) (?:cancell?ed|called off|stolen|fired|laid off|discontinued|scrapped|demolished|replaced)"
    r"|fell through|went (?:bankrupt|bust|under)|closed (?:down|for good|permanently|its doors)|closed(?=\W*$)|shut down|broke up"
    r"|split up|gave up the ghost|is no longer|ended"
    r"|left(?= (?:last|the|us|this|for|in|on|at|to|and|yesterday|today)\b|\W*$)|had (?:the|her|their|our|a) (?:baby|boy|girl)|gave birth"
    r"|put down|put to sleep)\b",
    re.IGNORECASE,
)
"""What stands before within a clause is over."""
ANY_MORE = re.compile(r"\b(?:these days|nowadays|for good|any ?more|any longer|no longer|at all now)\b", re.IGNORECASE)
ONLY_WITH_ANY_MORE = frozenset({"don't", "do not", "doesn't", "not", "no", "can't", "isn't", "aren't", "won't"})
ENDS_IN_GERMAN = re.compile(
    r"\b(?:(?:musste|mussten|muss|müssen) [^.!?]{0,60}\b(?:verkaufen|abgeben|kündigen|absagen|aufgeben|streichen|schließen|einschläfern"
    r"|weggeben|stornieren|aufhören|abbrechen|zumachen|einstellen|verschrotten)|(?:lasse|lassen|lässt) [^.!?]{0,40}\b(?:stehen"
    r"|sein|bleiben"
    r"|einschläfern)|aus dem kopf geschlagen|(?:schluss|aus) mit|wird nichts|(?:ist|sind) (?:\w+ )?(?:weg|tot|kaputt|vorbei"
    r"|hinüber|pleite|raus|ab|verheilt"
    r"|geheilt|gesund"
    r"|fertig|wieder da|zu ende)(?=\W*$)|verheilt|auskuriert|überstanden|umbenannt|weggegeben|ausgemacht|wieder fit|(?:fällt"
    r"|fallen|fiel|fielen) (?:[\w-]+ ){0,4}(?:aus|weg|flach|ins wasser)|(?:hör|hört|höre|hörte) (?:[\w-]+ ){0,4}auf"
    r"|(?:zieht|zog|steigt|stieg|tritt|trat|scheidet|schied|läuft|lief|springt|sprang) (?:[\w-]+ ){0,4}aus|(?:sagt|sagte|bricht"
    r"|brach|gibt"
    r"|gab|bestellt|bestellte|meldet|meldete) (?:[\w-]+ ){0,4}(?:ab|auf)|(?:macht|machte|schließt|schloss"
    r"|sperrt) (?:[\w-]+ ){0,3}(?:zu|dicht)"
    r"|abgeblasen|verschrottet|vertickt|versetzt|verworfen|geklaut|gestohlen|verloren|verlegt|verstorben|eingegangen|abgelaufen"
    r"|ausgelaufen"
    r"|zerbrochen|zerstört|abgebrannt|weggelaufen|entlaufen|durchgebrannt|durchgerostet|ausgemustert|entsorgt|eingetauscht"
    r"|zurückgegeben|zurückgeschickt|zurückgetreten|rausgeschmissen|gefeuert|weggefallen|eingestellt|stillgelegt|zugemacht"
    r"|zusammengebrochen"
    r"|eingestampft|begraben|beerdigt|abgesetzt|ausgeschlichen|exmatrikuliert|gelöscht|deinstalliert|gelassen|auseinander"
    r"|pleite|insolvent"
    r"|abgehauen|gegangen|verlassen|geheiratet|umgekommen|erledigt|vom tisch|auf eis|schluss gemacht|in zahlung gegeben|sein lassen"
    r"|(?:rauch|alkohol|zucker|schulden|koffein)frei|(?:ist|sind) (?:durch|futsch|rum|geplatzt|raus)(?=\W*$)|verkauft|abgegeben"
    r"|gekündigt|aufgegeben|aufgehört|abgesagt|storniert|abgeschafft|abgemeldet|abbestellt|verschenkt|weggeworfen"
    r"|losgeworden|stehen lassen|gestorben|eingeschläfert|ausgezogen|ausgefallen|fällt aus|abgestürzt|kaputt gegangen|kaputtgegangen"
    r"|ist (?:weg|tot|kaputt|vorbei|hinüber|dicht|pleite)|sind (?:weg|vorbei)|geschlossen|dichtgemacht|getrennt|geschieden"
    r"|in (?:rente|pension) gegangen|nicht mehr|keine?[nmrs]? (?:[\w-]+ ){0,3}mehr|statt|ersetzt|abgelöst|weggezogen|gegangen worden"
    r"|rausgeworfen|entlassen|ausgestiegen|ausgetreten|beendet|abgebrochen|hingeschmissen|geschmissen|geplatzt|gestrichen"
    r"|ins wasser gefallen)\b",
    re.IGNORECASE,
)
ENDS_IN_JAPANESE = re.compile(
    r"(?:は休んで|挫折|を出て|退院|治りまし|治った|あげまし|あげた|譲渡|移転|移住|上京|改名|完治|独立し|抜けまし|別居|辞め|やめ|止め|売っ|売り|売却|手放|亡くな|死ん|死に|天国|キャンセル|中止|解約|退会|退職"
    r"|退部|別れ|離婚|壊れ|引退|異動|閉店"
    r"|閉鎖|捨て|盗まれ|盗ま|失くし|無くし|なくしてしま|潰れ|つぶれ|倒産|中退|退学|禁煙|禁酒|破局|破談|白紙|取りやめ|取り消|廃止|廃車|譲り|譲っ"
    r"|亡くし|他界|逝去|休止|終了|閉まって|辞退|脱退|解雇|クビ|解散|休会|退任|転校|手を引|見送|削除し(?:まし|た)|壊し|割れ"
    r"|もう[^、。]{0,20}(?:ません|ない|なかった)|なくなりまし|治りまし|治った|完治"
    r"|なくなっ|卒業し|もう(?:[^、。]{0,20})ない|なくなりました|断念|諦め|処分|返し|返却|じゃなくて|ではなく|でなく|の代わりに"
    r"|から(?:[^、。]{1,12})に"
    r"(?:変え|替え|乗り換え|切り替え|変更))"
)
SWITCH = re.compile(
    r"\b(?:(?:been|was|got|get) (?:put on|moved to|assigned to|reassigned|transferred to|promoted to|demoted)|(?:gone|went"
    r"|going) (?:over to|with(?= (?-i:[A-Z])|\W\w+ instead))|(?:upgraded|downgraded|ported|crossed over|jumped ship|defected)"
    r" (?:[\w'-]+ ){0,3}?to|(?:signed up|went|now|am|are|i'm|we're) with(?= (?-i:[A-Z]))|(?:replaced|swapped"
    r"|traded) (?:[\w'-]+ ){1,4}?(?:with|for)"
    r"|(?:bin|sind|ist) jetzt bei|jetzt bei|(?:wechsel|wechsle|wechseln|wechselt) (?:[\w-]+ ){0,3}zu|zugelegt|(?:switched"
    r"|switching|moved|moving|changed|changing|migrated|converted) (?!an? )(?:[\w'-]+ ){0,4}?to(?!\W+(?:\d|next|later|noon"
    r"|midnight"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day))|now using|(?:joined|picked up|bought|got) (?:[\w'-]+ ){1,6}instead"
    r"|umgestiegen|gewechselt|umgestellt|rübergewechselt|nehme jetzt|nutze jetzt|verwende jetzt)\b"
    r"|(?:に移り|に移っ|へ移|に代わ|に交代|へ変更|を始めました|に転|乗り換え|切り替え|鞍替え|移行し|に変え|に替え|に買い替え)",
    re.IGNORECASE,
)
PREFERS = re.compile(
    r"\b(?:prefers?|preferred|like|likes) (?P<liked>[\w'+#.-]+) (?:over|to|rather than|more than|instead of) (?P<other>[\w'+#.-]+)",
    re.IGNORECASE,
)
PREFERS_NOW = re.compile(r"\b(?:prefers?|went back to|back to|switched to) (?P<liked>[\w'+#.-]+)", re.IGNORECASE)
NOW_INDEED = re.compile(
    r"\b(?:now|nowadays|these days|from now on|jetzt|inzwischen|neuerdings|mittlerweile|ab jetzt|ab sofort)\b|(?:今は|これから|現在)",
    re.IGNORECASE,
)
ADDS = re.compile(r"\b(?:also|too|as well|another|additionally|even|auch|noch|außerdem|zusätzlich)\b|も", re.IGNORECASE)
"""What is said so holds beside what was so before."""
NEW_IN_ITS_PLACE = re.compile(
    r"\b(?:new|neue?[nrs]?|neuem)\s+(?P<what>boss|manager|supervisor|landlord|landlady|teacher|doctor|gp|dentist|therapist|coach|trainer"
    r"|roommate|flatmate|neighbou?r"
    r"|phone|laptop|computer|car|bike|job|address|password|code|pin|e-?mail|bank|gym|girlfriend|boyfriend|partner|nanny|babysitter"
    r"|cleaner|hairdresser"
    r"|chef|chefin|vermieter|vermieterin|lehrer|lehrerin|hausarzt|hausärztin|zahnarzt|zahnärztin|trainer|mitbewohner|mitbewohnerin|handy"
    r"|rechner"
    r"|auto|wagen|rad|fahrrad|stelle|adresse|passwort|bank|freundin|freund)\b",
    re.IGNORECASE,
)
"""Of these people have one, so that a new one takes the place of the old."""
OWNED = re.compile(r"\b(?:my|our|mein\w{0,2}|unser\w{0,2}) (?P<what>[\w-]{1,30})", re.IGNORECASE)
GRADE = re.compile(
    r"\b(?:year|grade|form|semester|klasse)\s(?P<after>\d{1,2})\b|\b(?P<before>\d{1,2})(?:st|nd|rd|th|\.) (?:grade|year|semester"
    r"|klasse)\b"
    r"|\b(?P<word>erste|zweite|dritte|vierte|fünfte|sechste|siebte|achte|neunte|zehnte|first|second|third|fourth|fifth|sixth|seventh"
    r"|eighth|ninth|tenth)n?"
    r" (?:klasse|semester|grade|year)\b|(?P<ja>\d{1,2})年生",
    re.IGNORECASE,
)
GRADES = {
    word: number
    for words in (
        "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte",
        "first second third fourth fifth sixth seventh eighth ninth tenth",
    )
    for number, word in enumerate(words.split(), 1)
}
STAGES = (
    "nursery kindergarten preschool daycare crèche kita krippe 幼稚園 保育園",
    "school schule schulkind einschulung primary grundschule 小学校 小学生 小学",
    "gymnasium secondary realschule gesamtschule 中学校 中学",
    "college university uni studium studiert studies 大学 大学生",
)
"""Where somebody is at a time of life, one after the other."""
MOVES = re.compile(
    rf"\b(?:{_ALTERED}|tightened|loosened|widened|refinanced"
    r"|came (?:back|in|out) at|(?:auf|in) [\w-]+ (?:gelegt|legen|verlegen|verschieben)|verlangt|hinaus|rutscht|rückt|wandert"
    r"|rebooked|scrapped|axed"
    r"|discontinued|slipped|slid|pulled forward|set back|put back|slashed|trimmed|halved|doubled|tripled|upped|hiked|climbed|fell to"
    r"|shrank|shrunk|goes? from|went from|renegotiated|amended|swapped|replaced|upgraded|downgraded|relocated|renamed"
    r"|mixed (?:\w+ ){1,2}up"
    r"|got a (?:pay )?(?:raise|rise)|wrong|no longer|down by|up by|vorgezogen|nach (?:hinten|vorne?)|reduziert|herabgesetzt"
    r"|hochgesetzt|runtergesetzt|angepasst|verdoppelt|halbiert|abgenommen|zugenommen|verwechselt|verlegen wir|moved|moves"
    r"|moving|shifted|rescheduled|postponed|pushed|brought forward|bumped|delayed|extended|raised?|increased?|decreased?"
    r"|lowered|reduced|cut (?:to|from|back|down|by|(?:my|our|the|it) (?:[\w-]+ ){0,3}(?:to|from|by))|went up|goes up|gone up|went down"
    r"|gone down|put (?:[\w'-]+ ){1,4}up|up to|down to|changed|adjusted|updated"
    r"|revised|reached|improved|grew|grown|rose|risen|dropped to|turns out|i meant|we meant|misread|mixed up|got it wrong|correction"
    r"|no wait|instead"
    r"|verschoben|verlegt|vorverlegt|verschiebt|steigt|sinkt|erhöht sich|umgebucht|geändert|erhöht|gestiegen|gesenkt|gesunken|teurer"
    r"|runter|rauf|hoch auf|aufgestockt|gekürzt|korrigier\w*"
    r"|vertan|verguckt|verlesen|geirrt|sondern|doch|erst am|verlängert|angehoben)\b"
    r"|(?:変更|変わ|変え|ずれ|ずら|延期|早ま|増え|増や|減っ|減ら|上が|下が|値上げ|値下げ|伸び|になった|になりました|になっちゃ|にした"
    r"|にしました|間違|訂正"
    r"|じゃなくて|ではなく)",
    re.IGNORECASE,
)
_WHEN = f"(?:now|today|tomorrow|then|{ANY_MONTH}|{ANY_WEEKDAY}|next (?:week|month|year|term))"
_FROM_MONTH = "|".join(PLAIN_MONTHS)
_GERMAN_WORKDAY = "|".join(GERMAN_WEEKDAYS[:5])
NOW = re.compile(
    r"\b(?:from "
    rf"{_WHEN} on(?:wards?)?"
    rf"|starting (?:\w+ )?(?:today|tomorrow|{ANY_WEEKDAY}|week|month|{_FROM_MONTH})|effective|going forward"
    rf"|ab (?:nächste\w*|dem|der|{ANY_GERMAN_MONTH}|{_GERMAN_WORKDAY})|künftig"
    rf"|seit (?:kurzem|neuestem|{ANY_GERMAN_MONTH}|montag|diese\w*|letzte\w*)"
    r"|now|new|from now on|nowadays|these days|currently|actually|as of|jetzt|neue?[rnsm]?"
    r"|neuerdings|inzwischen|mittlerweile"
    r"|ab (?:jetzt|sofort|heute|morgen)|seit (?:dem|heute|gestern|letzter|letztem))\b|(?:今は|新し|これから|現在|今度)",
    re.IGNORECASE,
)
FROM_NOW = re.compile(
    rf"\b(?:from {_WHEN} on(?:wards)?|going forward|these days|nowadays|as of|ab (?:jetzt|sofort|nächste\w*)|künftig|neuerdings"
    rf"|inzwischen"
    r"|mittlerweile)\b|(?:これから|今後)",
    re.IGNORECASE,
)
"""What is so from a time on was otherwise before it."""
GIVES = re.compile(
    r"\b(?:had to|i've|we've|has|have|since|so (?:it's|we're|it is)|finally|turned out|got|came|returned|musste|mussten|habe"
    r"|haben|hat|seit"
    r"|jetzt|inzwischen)\b|(?:ました|になっ)",
    re.IGNORECASE,
)
"""What tells that something came about."""
ANOTHER = re.compile(
    r"\b(?:also|too|as well|another|other|back|return|second|next|each|per|extra|plus|auch|noch|andere\w*|zweite\w*|zurück"
    r"|rück\w+|je)\b|も",
    re.IGNORECASE,
)
"""What is told beside the first."""
CORRECTS = re.compile(
    r"\b(?:no wait|i meant|my bad(?= *(?:[,.:;!]|$))|scratch that|typo|misremembered|misspoke|mistyped|i was wrong"
    r"|that was wrong|let me correct|my mistake"
    r"|mixed (?:\w+ ){0,2}up|(?:sorry|oops|no)\W{1,3}(?:it's|it is|that's|wrong|i mean)|(?:sorry|oops)\W{1,3}(?:on|at"
    r"|in) (?=\d)|wrong (?=\w+\b\W)"
    r"|verwechselt|quatsch|vertippt|tippfehler|verrechnet|falsch|ich meinte|nein\W{1,3}(?:es|der|die|das|am|um|erst|ist)"
    r"|misread|mixed up|got it wrong|correction|vertan|verguckt|verlesen|geirrt|korrigier\w*)\b"
    r"|(?:間違|訂正|勘違|違った|違いまし|見間違|言い間違)",
    re.IGNORECASE,
)
NAMED_OLD = re.compile(
    r"\b(?:from|instead of|rather than|told you|thought|was|not(?: on| at)?|nicht(?: am| um)?|statt(?: am| um)?|von)\s+(?:the\s+|dem\s+"
    r"|on\s+)?"
    r"(?P<old>[^\s,;.!?]+(?:\s+(?:uhr|am|pm))?)|(?P<alt>[^、。はがを]{1,12})(?:じゃなくて|ではなく|でなく)",
    re.IGNORECASE,
)
"""What a change names as what was so before: its value is not the new one."""

NOT_THIS_ONCE = re.compile(
    r"\b(?:(?:this|next) (?:week|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|today|tonight|tomorrow"
    r"|(?:diese|nächste|kommende)[nrsm]? (?:woche|wochenende|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)|heute|morgen)\b"
    r"|今日|今週|来週|明日",
    re.IGNORECASE,
)
CALLED_OFF = re.compile(
    r"\b(?:cancell?ed|called off|is off|are off|fällt|fallen|entfällt|abgesagt|ausgefallen)\b|休み|中止|休講", re.IGNORECASE
)
"""What is called off this once goes on afterwards."""
FROM_OLD = re.compile(
    r"\b(?:from|von)\s[^\s,;.!?]{0,3}\d[^\s,;!?]{0,12}(?:\s[^\s,;.!?]{1,12})?(?=\s(?:to|up to|down to|auf)\s)", re.IGNORECASE
)
"""What was so before, where a sentence names it before what is so now."""
DENIED = re.compile(r"(?:n't|\b(?:not|never|nor|without|won|don|nicht|nie|kein\w{0,2}))(?:\s+[\w']+){0,2}\s*$", re.IGNORECASE)
"""Before a verb of ending: it did not end."""
SUPPOSED = re.compile(
    r"\b(?:would|should|could|might|maybe|i'd|id love|we'd|if|wish|supposed|imagine|let's|try to|want(?:ed)? to|wanna|going to|gonna"
    r"|remember to|why don't|unless|whether|almost|nearly|dream\w*|dreamt|pretend\w*|suppose|novel|the game|will|joked"
    r"|sollte|könnte|würde|wenn|falls|vielleicht|möchte)\b|(?:たら|なら|かもしれ|たい|だろう)",
    re.IGNORECASE,
)
"""In a clause that tells no fact."""
OF_OTHERS = re.compile(r"\b(?:he|she|they|you|he's|she's|they've|you've|he'd|she'd|they'd|er|ihr)\b", re.IGNORECASE)
OWN = re.compile(
    r"\b(?:i|i'm|i've|im|ive|my|mine|we|we're|we've|our|ours|us|me|user|user's|users|the|ich|mein\w{0,2}|wir|unser\w{0,2}|uns|mir|mich"
    r"|der|die|das)\b"
    r"|\b(?-i:[A-Z][a-z]{1,20}) (?:is|has|lives|works)\b|[\u3041-\u30ff\u4e00-\u9fff]",
    re.IGNORECASE,
)
JAPANESE = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
GERMAN = re.compile(
    r"[äöüß]|\b(?:hat (?:die|das|den|sich|jetzt|seinen?|ihren?)|endlich|herr|die (?-i:[A-ZÄÖÜ])[a-zäöü]{2,30}|der|das|dem|wird"
    r"|werden|wurden|auf|von|vom|nein|sich|ins|aufs|noch|ein|eine[nmrs]?|sie|uns|mich|mir|bei|ich|wir|mein\w{0,2}|unser\w{0,2}"
    r"|nicht|und|ist|bin|hab|habe|haben|jetzt|kein\w{0,2}|seit|beim|zum|wurde|nach|geht"
    r"|fährt)\b",
    re.IGNORECASE,
)
TELLS_OF_WORDS = re.compile(r"\b(?:said|says|told me|wrote)\b", re.IGNORECASE)
IN_PART = re.compile(r"\b(?:full|part)[- ]time\b", re.IGNORECASE)
"""What ends may be this alone."""
USES_NOW = re.compile(r"\busing\b", re.IGNORECASE)
_IN_A_COUPLE = """
    wife husband girlfriend boyfriend partner frau mann freundin freund boss 妻 夫 旦那 彼女 彼氏
"""
IN_A_COUPLE = frozenset(_IN_A_COUPLE.split())
OWN_SUBJECT = re.compile(r"\b(?:i|i'm|i've|im|ive|my|we|we're|we've|our|user|user's|ich|wir|mein\w{0,2})\b", re.IGNORECASE)
USING = re.compile(
    r"\b(?:keep|order|shop|host|hosted|track|store|use|uses|using|buy|drink|eat|take|all my|everything|write|writes|code in"
    r"|coding in|run|running|drive|bank|subscribe|on an? "
    r"|with|team|nutze|benutze|verwende|nehme|habe|bei|bin|kaufe"
    r"|ist)\b|(?:使|派|乗って|愛用)",
    re.IGNORECASE,
)
"""How people tell what they use."""
POINTS_BACK = re.compile(r"\b(?:it|it's|its|that|this|they|es|das|sie|ihn)\b|それ", re.IGNORECASE)
TO_NUMBER = re.compile(r"\b(?:to|up|down|at|on|it's|is|now|be|auf|jetzt|bei|ist|sind)\s+[€$£¥]?\s?\d", re.IGNORECASE)
TO_SOMEBODY = re.compile(r"\b(?:you|your|yours|yourself|du|dir|dich|dein\w{0,2}|euch|euer)\b", re.IGNORECASE)
PAST = re.compile(
    r"\b(?:was|were|used to|had been|would|did|went|\w+'d|war|waren|hatte|hatten|wurde)\b|(?:でした|ました|かった|だった)[。！!]*$",
    re.IGNORECASE,
)
PRESENT = re.compile(
    r"\b(?:am|is|are|\w+'(?:m|s|re|ve)|have|has|do|does|will|live|work|use|drive|eat|drink|take|go|pay|play|run|like|love|prefer|own"
    r"|rent|plan|teach"
    r"|bin|ist|sind|habe|hab|hat|haben|wohne|arbeite|fahre|esse|trinke|nehme|mag|gehe)\b|(?:です|ます|ている|てる|だ)",
    re.IGNORECASE,
)
_WEAK = """
    tried yet myself yourself himself herself together only anyway instead people
    user users assistant user's thing things way ways time times day days week weeks weekend month months year years today tonight
    tomorrow yesterday morning mornings afternoon evening evenings night nights noon hour hours minute minutes second first last next new
    old now then just really very still finally again back already ever never always usually often sometimes actually maybe also too
    much many lot lots bit more most less least some any all every each other another same one two three four five six seven eight nine
    ten go goes going went gone get gets getting got take takes taking took make makes making made do does doing did done have has had
    having be been am is are was were use uses using used work works working worked want wants wanted need needs needed like likes liked
    love loves know knows think thinks say says said tell tells told see look looks looking feel feels let put puts come comes came keep
    keeps try tries trying tried start starts starting started stop stopped stops move moves moved moving change changes changed switch
    switched give gives given gave up out off over in on at to from of for with about into since till until around before after because
    please thanks thank help idea ideas tip tips good great nice best better bad worse sure ok okay oh well yes no not dont cant im ive
    id ill its thats whats hi hello hey lol haha ugh phew can could would should will may might must shall if so but and or as than there
    here what when where which who why how my your his her our their me you him them us we they she he it this that these those guy
    called name named people person someone somebody something anything everything nothing plan plans planned planning question questions
    even though however quite rather read reading sound sounds end ends ended feel feels felt own real life world start finish actual good
    enough interest interesting amazing awesome cute beautiful cool crazy early late later long short high low hot cold free full open
    close closed hold holding hear heard happen happened play playing watch watching talk talking speak call called ask asked answer show
    showed turn turned walk walking run running sleep wait hope care worry worried seem seems believe understand learn learned lose lost
    win won bring brought write wrote meet met pick picked stay stayed stuff kind sort part end side number case point fact reason problem
    issue story word words order experience future past present moment minute while course self body head hand face eye eyes heart mind
    world country state city town room door water food air light sound color colour size money business company group team relationship
    actual literal probable definite total certain honest glad sad tired busy ready able different similar special important main whole
    totally literally probably definitely certainly exactly basically honestly especially usually normally outside inside everyday worth
    anymore same alone somewhere else besides apart sometime sort rest favorite favourite game
    yeah yep oh hmm wow anyway afternoon
    don won isn doesn didn couldn shouldn wouldn aren wasn weren hasn haven hadn ain ve ll re home place family life day job sit sitting
    chance hope dream dreams hard easy fun friend friends believe happy image photo photography
    recommend suggest recommendations message remind reminder remember forget mean means meant currently recently lately left right
    live lives living lived buy buys bought sell sold pay pays paid pretty quite whole little big small half
    ich du er sie es wir ihr mein meine meinen meinem meiner dein sein unser unsere unserem und oder aber denn weil dass der
    die das den dem
    des ein eine einen einem einer ist sind war waren bin habe hab hat haben hatte wird werden wurde wurden mit ohne für von bei zu zum zur
    ins aufs ans vom zur beim im in an am auf aus nach seit bis um
    über unter vor hinter nicht kein keine keinen mehr noch schon jetzt nun dann da hier auch nur sehr
    so wie was wer wo wann warum kann kannst können könnte bitte danke hallo tag tage woche wochen monat monate jahr jahre heute morgen
    gestern abend mittag nacht uhr gut neue neuen neuer neues neu alt alte alten letzte letzten letzter nächste nächsten mal doch ja nein
    geht gehe gehen ging mache macht machen gemacht weiß mag möchte will muss gerade endlich wieder immer oft viel viele wenig zwei drei
    vier fünf sechs sieben acht neun zehn man mir mich dir dich uns euch ihm ihn ihnen heißt heiße euro tipps tipp ideen idee
"""
_WEAK_IN_JAPANESE = (
    "今日 今月 今年 今週 先週 先月 去年 来週 来月 来年 最近 毎日 毎週 毎朝 毎月 昨日 明日 今朝 午前 午後 時間 場合 自分 今度"
    " 時半 月曜 火曜 水曜 木曜 金曜"
    " 土曜 日曜 曜日 予定 新し 大好 好き 食べ 飲み 行き 思う 教え 言う 使う 使い 買い 何か 一番 本当 結局 変更 予約 少し 全部"
    " 先日 毎晩 一緒 家族 乗り 乗っ 換え 替え 名前"
)
_DAYS = (*WEEKDAYS, *GERMAN_WEEKDAYS)
_WEAK_WORDS = (*_WEAK.split(), *_DAYS, *(f"{day}s" for day in _DAYS), *MONTHS, *GERMAN_MONTHS)
WEAK = frozenset([*_WEAK_WORDS, *terms_of(_WEAK_WORDS)])
WEAK_IN_JAPANESE = frozenset(_WEAK_IN_JAPANESE.split())
"""Words that two messages may share without being about one thing."""

_KIN = """
    mother mom mum father dad parents brother brothers sister sisters son sons daughter daughters child wife husband partner boyfriend
    girlfriend fiancé fiancee friend friends colleague colleagues coworker neighbour neighbor neighbours neighbors boss cousin aunt uncle
    grandma grandpa grandmother grandfather roommate flatmate niece nephew
    mutter mama vater papa eltern bruder schwester sohn tochter frau mann partnerin freund freundin kollege kollegin kollegen nachbar
    nachbarin tante onkel oma opa cousine neffe nichte mitbewohner mitbewohnerin
"""
KIN = frozenset(_KIN.split())
KIN_IN_JAPANESE = re.compile(
    r"(?:お?父(?:さん)?|お?母(?:さん)?|兄|姉|弟|妹|夫|妻|旦那|息子|娘|友達|友人|同僚|祖父|祖母|彼女|彼氏|いとこ|両親|先輩"
    r"|後輩)(?=[はがのもと])"
)

_ALIKE = (
    "due deadline fällig abgabe abgabetermin frist 締め切り 締切",
    "thesis topic dissertation masterarbeit thema 論文 テーマ",
    "gym membership fitnessstudio fitness ジム",
    "iphone phone smartphone cellphone handy android samsung galaxy 携帯 スマホ",
    "insurance insurer insurers insur versicherung versicherer 保険",
    "surname name nachname familienname 名字 苗字",
    "salary raise wage wages gehalt lohn 給料 年収 月給",
    "rent landlord flat apartment miete vermieter wohnung 家賃 大家",
    "wedding wed engaged engag married marry marri verlobt hochzeit heiraten 結婚 挙式",
    "coffee espresso caffeine caffein latte kaffee koffein コー ヒー 珈琲 カフ",
    "alcohol beer wine bier wein alkohol お酒 ビール 飲酒",
    "smoke smoker smoking cigarette cigarett cigaret smok rauch rauche rauchen raucher raucherin zigarette zigaretten タバ バコ 煙草",
    "meat steak beef chicken pork bacon fleisch fleischesser rind 肉食 お肉",
)
ALIKE = {
    term: place
    for place, words in enumerate(_ALIKE)
    for word in words.split()
    for term in (word, *terms_of([word], "english"), *terms_of([word], "german"))
}
"""By word, the number of the matter that it is about, where people name one matter by several words."""


_KINDS = (
    "vim neovim emacs helix vscode sublime intellij pycharm webstorm zed nano eclipse xcode notepad++ cursor",
    "slack teams discord mattermost zulip whatsapp signal telegram threema line skype zoom",
    "firefox chrome safari edge brave opera vivaldi arc",
    "jira linear asana trello monday clickup notion basecamp redmine todoist things ticktick",
    "jenkins circleci travis gitlab github bitbucket",
    "heroku fly.io fly vercel netlify render aws azure gcp hetzner digitalocean",
    "postgres postgresql mysql mariadb sqlite mongodb oracle cassandra redis dynamodb",
    "lastpass bitwarden 1password keepass dashlane",
    "outlook thunderbird gmail mailbird protonmail",
    "windows macos linux ubuntu debian fedora nixos arch",
    "vodafone giffgaff telekom o2 verizon t-mobile at&t ee three comcast congstar ソフトバンク 楽天モバイル ドコモ ワイモバイル",
    "allianz axa huk ergo aviva geico progressive admiral zurich",
    "netflix disney hulu prime spotify deezer tidal",
    "iphone pixel samsung galaxy oneplus xiaomi fairphone huawei nokia xperia",
    "honda toyota ford civic corolla golf polo tesla bmw audi volvo mazda skoda kia fiat opel seat prius rav4 プリウス フィット アクア",
    "sparkasse n26 ing dkb comdirect revolut monzo barclays hsbc lloyds natwest chase commerzbank",
    "react vue angular svelte python rust golang java kotlin typescript javascript ruby elixir",
    "nikon canon sony fujifilm leica panasonic",
    "vegan vegetarian omnivore pescatarian",
)
KINDS = {word: place for place, words in enumerate(_KINDS) for word in words.split()}
KINDS_IN_JAPANESE = tuple(word for word in KINDS if JAPANESE.search(word))
"""By name, the kind of thing of which people mostly use one: who switches to one of a kind leaves another."""


class Matter(NamedTuple):
    """holds: how people tell how it is; changes: how they tell that it is otherwise now. of_kin: whether another relative may tell it."""

    holds: re.Pattern[str]
    changes: re.Pattern[str]
    of_kin: bool = False


MATTERS: tuple[Matter, ...] = (
    Matter(  # home
        re.compile(
            r"\bhome city:|\b(?:live|lives|living|rent|renting) (?:a room |a flat |alone )?(?:in|at|on|with|near)\b|\b(?:my"
            r"|our) (?:flat|apartment"
            r"|house|place|address|room)\b"
            r"|\b(?:wohne|wohnen|wohnt|lebe|leben|lebt)\b|\b(?:meine|unsere) (?:wohnung|adresse)\b|住んで|住まい|暮らし|実家",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:moved|relocated) (?:house|home|in with|(?:back |over |out )?to (?!(?:the next"
            rf"|(?:{ANY_WEEKDAY})s?|\d|a later|an earlier|using|vs|the \d))|into)"
            r"|\bmoved in\b(?! (?:a|the|that|such)\b)|\bnew (?:address|flat|apartment|place|house)\b|\bbought (?:a|our"
            r"|my) (?:\w+ )?(?:house|flat|apartment)\b|\b(?:umgezogen|umzug|gezogen|neue adresse|neue wohnung|neuen wohnung|wohne jetzt"
            r"|wohnen jetzt)\b|一人暮らしを始め|引っ越し(?:ました|た|て)|引越し(?:ました|た)",
            re.IGNORECASE,
        ),
    ),
    Matter(  # work
        re.compile(
            r"\bemployer:|\b(?:i|i'm|user|we|still|currently) (?:\w+ )?(?:work|works|working) (?:at|for|as|in|part-time|full-time)\b"
            r"|\bi'?m an? [\w -]{2,30} (?:at|for)\b"
            r"|\bmy (?:job|employer) (?:is|at)\b|\b(?:arbeite|arbeitet|arbeiten|jobbe)\b"
            r"|\b(?:bin|ich) (?:\w+ )?(?:bei|beim) (?:der |dem )?[\w-]+|で働|に勤|勤務|バイト|の仕事|ってます|やってます|をしています",
            re.IGNORECASE,
        ),
        re.compile(
            r"\bnew job\b|\bgot the job\b|(?:\bi (?:just )?|\bi'm |\band |\A\W*|[.!] )(?:start|started|starting) (?:as|at|work)\b"
            r"|\b(?:handed|given|gave|put) in my (?:notice|resignation|apron)\b|\b(?:quit|left|lost) my job\b"
            r"|\b(?:got|been|was) (?:fired|laid off|made redundant)\b(?! up)|"
            rf"\bfrom (?:{ANY_MONTH}) i'?m (?:at|with)\b"
            r"|\bi'?m (?:at|with) (?-i:[A-Z])[\w' ]{2,30} now\b|\bswitched jobs\b|\bretired\b(?! to)"
            r"|\b(?:neue stelle|neuen job|neuer job|job gewechselt|gekündigt|angefangen bei|fange bei|bin jetzt bei)\b"
            r"|\bseit (?:dem )?(?:\d{1,2}\. )?\w{1,20} bin ich (?:bei|beim)\b|転職|退職|入社|辞めて(?:、|今は)|今は[^。]{1,20}で(?:働"
            r"|教|勤)",
            re.IGNORECASE,
        ),
    ),
    Matter(  # relationship
        re.compile(
            r"\bmarital status: single|\b(?:i'?m|i am|user is|am|still) single\b|\bbin (?:\w+ )?single\b|独身|彼女がい(?:ない|ません)"
            r"|彼氏がい(?:ない|ません)",
            re.IGNORECASE,
        ),
        re.compile(
            r"\bseeing someone\b|\b(?:got|getting|i'?m|am) (?:engaged|married)\b|\b(?:have|got) a (?:new )?(?:girlfriend|boyfriend"
            r"|partner)\b|\bdating\b|\bverlobt\b|\bgeheiratet\b|\beine? (?:freundin|freund)\b|結婚し|婚約|彼女ができ|彼氏ができ|付き合",
            re.IGNORECASE,
        ),
    ),
    Matter(  # couple
        re.compile(
            r"\bmy (?:wife|husband|girlfriend|boyfriend|partner|fianc\w+)\b|\b(?:i'?m|am|user is) (?:married|engaged)\b|\bmein(?:e|er|em"
            r"|en)? (?:frau|mann|freundin|freund|partner\w*)\b|\bverheiratet\b|妻|夫|旦那|彼女と|彼氏と",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:we|i) (?:have |just |finally )?(?:broke up|split up|separated|got divorced|are divorced|are getting divorced)\b"
            r"|\b(?:divorced|newly single|single again)\b|\b(?:uns|haben uns) (?:\w+ )?getrennt\b|\bgeschieden\b|\bscheidung\b|別れ(?:まし"
            r"|た)|離婚",
            re.IGNORECASE,
        ),
    ),
    Matter(  # meat
        re.compile(
            r"\b(?:eat|eats|love|loves|like) (?:\w+ ){0,3}(?:meat|steak|beef|pork|chicken|burgers?)\b|\bmeat[- ]?eater\b|\bcarnivore\b"
            r"|\bfleischesser|\bfleisch\b|\besse gern(?:e)? (?:fleisch|wurst)|(?:お?肉|焼肉|ステーキ)(?:が|は|も|を)(?:大?好き|よく"
            r"|毎日|食べ(?:ます|る))",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:i'?m|i am|went|gone|going|turned|became|become|am|being|user is) (?:\w+ )?(?:vegan|vegetarian|plant-based)\b"
            r"|\b(?:stopped|quit|gave up|given up) (?:eating )?meat\b|\b(?:esse|ernähre|lebe|bin) [^.!?]{0,30}\b(?:vegetarisch|vegan"
            r"|vegetarier\w*|veganer\w*)\b|(?:ベジタリアン|ヴィーガン|菜食)(?:に|です)|肉(?:は|を)(?:もう)?(?:食べません|食べない|やめ)",
            re.IGNORECASE,
        ),
    ),
    Matter(  # vegetarian
        re.compile(
            r"\b(?:i'?ve been|i'?m|i am|been|am|user is) (?:a |an |strictly |strict )?(?:vegan|vegetarian|pescatarian|plant-based)\b"
            r"|\bbin (?:\w+ ){0,2}(?:vegan\w*|vegetari\w*)\b|(?:ベジタリアン|ヴィーガン)(?:です|なので)",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:eating|eat|started eating) (?:meat|fish|chicken|beef) (?:again|now)\b|\bnot (?:a )?(?:vegan|vegetarian) any ?more\b"
            r"|\bno longer (?:a )?(?:vegan|vegetarian)\b|\besse (?:jetzt )?wieder (?:fleisch|fisch)\b|(?:また|再び)お?肉を食べ",
            re.IGNORECASE,
        ),
    ),
    Matter(  # health
        re.compile(
            r"\b(?:hurts|broken|injured|sprained|in hospital|in the hospital|sick|ill|the flu|covid|on crutches|in a cast|krank"
            r"|verletzt|gebrochen"
            r"|im krankenhaus|krankgeschrieben)\b|入院|怪我|骨折|病気|風邪",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:(?:is|'s|has|have|am|are|was|been|got) (?:\w+ )?(?:healed|cured|recovered|discharged|released"
            r"|out of (?:the )?hospital)"
            r"|back on my feet|off crutches|wieder (?:gesund|fit)|verheilt|aus dem krankenhaus)\b|退院|治り|治った|完治|回復し",
            re.IGNORECASE,
        ),
        of_kin=True,
    ),
    Matter(  # shift
        re.compile(
            r"\b(?:work nights|night shifts?|late shift|early shift|nachtschicht|spätschicht|frühschicht)\b|夜勤|日勤", re.IGNORECASE
        ),
        re.compile(
            r"\b(?:on|to|onto) (?:the )?(?:day|night|early|late) shifts?\b|\bno more (?:night|day) shifts\b|\bin die \w{3,5}schicht\b"
            r"|(?:日勤|夜勤)にな",
            re.IGNORECASE,
        ),
    ),
    Matter(  # without work
        re.compile(
            r"\b(?:unemployed|jobless|out of work|between jobs|job[- ]hunting|looking for (?:a job|work)|arbeitslos|arbeitssuchend)\b"
            r"|\bsuch\w{0,2} (?:\w+ )?(?:arbeit|job|stelle)\b|無職|求職|就活",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:landed|found|got|started|starts|accepted|took|has) (?:\w+ )?(?:a|the|his|her|my) (?:new )?(?:job|position"
            r"|offer|role)\b"
            r"|\b(?:eine|die|den|einen) (?:neue[nr]? )?(?:job|stelle|arbeit) (?:gefunden|bekommen)\b|内定|就職し|採用され",
            re.IGNORECASE,
        ),
    ),
    Matter(  # a child on the way
        re.compile(
            r"\b(?:pregnant|expecting|baby is due|due date|schwanger|hochschwanger|erwarten (?:ein|unser))\b|妊娠|出産予定|予定日",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:our|my|her|the) (?:\w+ ){1,3}(?:was born|is born|arrived|has arrived)\b|\b(?:gave|given) birth\b"
            r"|\bhad (?:the|her|our|a) baby\b"
            r"|\bzur welt gekommen\b|\b(?:ist|wurde) (?:[\w-]+ ){0,4}geboren\b|\bentbunden\b|生まれ(?:まし|た)|出産し|産まれ",
            re.IGNORECASE,
        ),
        of_kin=True,
    ),
    Matter(  # engaged
        re.compile(r"\b(?:engaged to|my fianc\w+|verlobt)\b|婚約", re.IGNORECASE),
        re.compile(
            r"\b(?:got|are|were) (?:married|hitched)\b|\btied the knot\b|\bcalled off the (?:wedding|engagement)\b|\bgeheiratet\b"
            r"|\bentlobt\b|結婚しまし|入籍|婚約を?(?:破棄|解消)",
            re.IGNORECASE,
        ),
    ),
    Matter(  # a name
        re.compile(
            r"\b(?:my|our) (?:last |sur|family |full |maiden )?name (?:is|was)\b|\bsurname\b|\bmein (?:nach"
            r"|familien)?name ist\b|\bich heiße\b"
            r"|名字は|苗字は|旧姓",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:took|taken|taking) (?:my|his|her|their) (?:[\w']+ )?(?:sur|last )?name\b|\bchanged my (?:\w+ )?(?:sur)?name\b"
            r"|\bi(?: now)? go by\b|\bheiße (?:jetzt|nun|seit)\b|\bnamen (?:meines|meiner) \w+ angenommen\b"
            r"|(?:名字|苗字|姓)が変わ|改姓|改名",
            re.IGNORECASE,
        ),
    ),
    Matter(  # pay
        re.compile(
            r"\b(?:get paid|earn|salary|wage) (?:\w+ ){0,3}[€$£]?\d|\bverdiene\b|\bgehalt\b|給料|年収|月給|手取り|時給", re.IGNORECASE
        ),
        re.compile(
            r"\bgot (?:a|my) (?:\w+ )?(?:raise|rise|pay (?:raise|rise|cut))\b|\bpay (?:cut|rise|raise)\b|\bgehaltserhöhung\b"
            r"|\bmehr gehalt\b"
            r"|\bverdiene jetzt\b|昇給|給料が上が|減給",
            re.IGNORECASE,
        ),
    ),
    Matter(  # smoking
        re.compile(r"\b(?:i|user) smokes?\b|\bsmoker\b|\brauche\b|\braucher(?:in)?\b|(?:タバコ|煙草)(?:を|は)(?:吸|すっ)", re.IGNORECASE),
        re.compile(
            r"\b(?:quit|stopped|gave up|given up) (?:smoking|cigarettes)\b|\b(?:haven't|have not) (?:smoked|had a cigarette)\b"
            r"|\bsmoke[- ]free\b"
            r"|\brauchfrei\b|\bnichtraucher\w*\b|\brauche nicht mehr\b|禁煙|吸っていません|吸わなく",
            re.IGNORECASE,
        ),
    ),
    Matter(  # phone number
        re.compile(r"\b(?:number|phone|reach me|handynummer|nummer|mobilnummer)\b[^.!?]{0,40}\d{3}|電話番号|携帯番号", re.IGNORECASE),
        re.compile(
            r"\b(?:new (?:sim|number|phone number|mobile)|changed my number|neue (?:handy)?nummer|neue (?:mobil|telefon)nummer)\b"
            r"|(?:新しい番号|番号が変わ|番号を変え)",
            re.IGNORECASE,
        ),
    ),
    Matter(  # email
        re.compile(r"\be-?mail\b[^!?]{0,40}@|\b[\w.+-]{1,64}@[\w-]{1,64}\.", re.IGNORECASE),
        re.compile(r"\bnew e-?mail\b|\bneue (?:e-?mail|mail)\b|新しいメール|メールアドレスが変わ", re.IGNORECASE),
    ),
    Matter(  # boss
        re.compile(r"\bmy (?:boss|manager|supervisor)\b|\bmeine? (?:chef|chefin)\b|上司", re.IGNORECASE),
        re.compile(
            r"\bnew (?:boss|manager|supervisor)\b|\b(?:now (?:i'?m )?report(?:ing)?|report(?:ing)? now) to\b|\bneuer? (?:chef|chefin)\b"
            r"|新しい上司|上司が(?:変わ|代わ)",
            re.IGNORECASE,
        ),
    ),
    Matter(  # car
        re.compile(
            r"\bcar:|\b(?:i|user) drives? an? \b|\bmy car is\b|\bfahre (?:jetzt )?einen\b|\bmein auto ist\b|に乗って(?:い|ま)",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:bought|got|picked up|ordered|drive|driving) (?:an? |the |my )?(?:new |used )?(?:[\w-]+ ){0,3}(?:car|tesla|bmw|vw|golf"
            r"|audi|toyota|honda|ford|skoda|kia|volvo|mercedes|mazda|hyundai|renault|fiat|opel|corsa|polo|nissan|peugeot)\b"
            r"|\bneues auto\b|\bjetzt fahre ich\b|\bfahre jetzt\b|新しい車|車を買い替え",
            re.IGNORECASE,
        ),
    ),
    Matter(  # commute
        re.compile(r"\b(?:commute|to work|zur arbeit|pendle|pendelt)\b|通勤", re.IGNORECASE),
        re.compile(
            r"\b(?:commute|commuting|cycle|cycling|bike|drive|driving|take the \w+) (?:to work )?(?:by \w+ )?(?:now|instead"
            r"|these days)\b|\bnow (?:i )?(?:commute|cycle|drive|take the)\b|\bpendle jetzt\b|\bfahre jetzt mit\b|通勤(?:は"
            r"|が)[^。]{0,12}に(?:変|なっ|し)",
            re.IGNORECASE,
        ),
    ),
    Matter(  # weight
        re.compile(r"\b(?:weigh|weight|wiege|gewicht)\b[^.!?]{0,30}\d|\d{1,3} ?kg\b|体重", re.IGNORECASE),
        re.compile(
            r"\b\d{1,3}(?:[.,]\d{1,2})? (?:kg |kilos? )?on the scales?\b|\b(?:down|up) to \d{1,3}(?:[.,]\d{1,2})? ?(?:kg|kilos?|pounds"
            r"|lbs)\b|\bwiege (?:jetzt|nur noch)\b|体重が\d",
            re.IGNORECASE,
        ),
    ),
    Matter(  # working hours
        re.compile(
            r"\b\d{1,3} (?:hours|stunden) (?:a|per|die|pro|in der) (?:week|woche)\b|\b(?:vollzeit|full[- ]time)\b|週\d{1,2}日",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:down|up) to \d{1,3} hours\b|\bauf \d{1,3} stunden\b|\bpart[- ]time now\b|\b(?:jetzt|auf) teilzeit\b"
            r"|\b(?:went|gone|going) part[- ]time\b|週\d{1,2}日に",
            re.IGNORECASE,
        ),
    ),
)
"""Matters in which one thing holds at a time, however people name it."""
