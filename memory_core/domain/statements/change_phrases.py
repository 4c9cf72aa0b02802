"""Expressions for changes in English, German and Japanese.

`changes` reads from them that something is over, is different now, or has another value.
"""

from __future__ import annotations

import re

from memory_core.domain.statements.appointment_words import (
    CANCELLED_IN_ENGLISH,
    CANCELLED_IN_GERMAN,
    CANCELLED_IN_JAPANESE,
    EXCUSES,
    PUT_ELSEWHERE_IN_ENGLISH,
    PUT_ELSEWHERE_IN_GERMAN,
    PUT_ELSEWHERE_IN_JAPANESE,
)
from memory_core.domain.text.spelling import (
    ANY_GERMAN_MONTH,
    ANY_GERMAN_WEEKDAY,
    ANY_MONTH,
    ANY_WEEKDAY,
    GERMAN_WEEKDAYS,
    PLAIN_MONTHS,
)


def _cue(expression: str) -> re.Pattern[str]:
    """An expression whose letters may be of any case."""
    return re.compile(expression, re.IGNORECASE)


_OVER = (
    "scrapped|axed|binned|ditched|dumped|donated|shelved|abandoned|terminated|discarded|pawned"
    "|totall?ed|wrecked|removed|uninstalled|dismantled|decommissioned|phased out|withdrawn|revoked"
    "|suspended|put on (?:hold|ice)|let go|sacked|dismissed|nicked|pinched|towed|demolished"
    "|knocked down|torn down|destroyed|eliminated|dissolved|disbanded|abolished|wound up|superseded"
    "|succeeded|taken (?:off|down|over)|thrown (?:out|away)|given away|written off|turned down"
    "|disconnected|deactivated|unplugged|euthani[sz]ed|rehomed|sold(?! out)|closed down|shut down"
    "|dropped|retired|returned|repossessed|broken off"
)
"""Participles for things that are over: "was …", "got …", "had it …"."""
_ALTERED = (
    f"{PUT_ELSEWHERE_IN_ENGLISH}|renamed|shortened|lengthened|extended|refinanced|reassigned"
    "|relocated|renegotiated|redecorated|repainted|reset|converted|merged|split up|outsourced"
)
"""Participles for things that go on differently."""
ALTERED = _cue(rf"\b(?:{_ALTERED}|rename|reschedule|postpone|shorten|extend|rebook|reset)\b")
MOVED = _cue(rf"\b(?:(?:has|have) been (?:moved|switched|put)|{PUT_ELSEWHERE_IN_ENGLISH})\b")
"""Verbs for events that go on at another time, if a time follows."""
ENDS_OF_OBJECT = _cue(
    rf"\b(?:(?:I|we|I've|we've|have|just|finally|also) (?:{_ALTERED})"
    r"|changed (?:my|our|his|her|their) minds? (?:about|on)|paid off"
    r"|(?:put an end to|put a stop to|called time on|had enough of|lost interest in|fed up with"
    r"|(?:didn't|not|never) renew\w*|ended(?= (?:my|our|the)\b))"
    r"|had to (?:rename|reschedule|postpone|shorten|extend"
    r"|rebook|reset|rehome"
    r"|scrap|shelve|abandon|axe|let go of|withdraw from|step down from|drop out of|back out of"
    r"|close|shut down|sell off)|outgrown|outgrew|(?:taken|took|takes|taking) over|traded"
    r"|exchanged(?= (?:my|our|the|it)\b)"
    r"|no longer (?:on|with|at|in)|kicked out of|grown out of|grew out of"
    r"|couldn't (?:stand|keep up with|get through|afford)|gone off|went off|blew|used up|grounded"
    r"|scrapped|axed|binned|dumped|donated|shelved|terminated|pawned|totall?ed|wrecked"
    r"|parted (?:ways )?with|chucked(?: out)?|tossed(?: out)?|sold off|wrote off"
    r"|weaned (?:myself )?off|tapered off|stepped (?:down|back|away) from|dropped out of"
    r"|graduated from"
    r"|withdrew from|backed out of|bailed on|opted out of|walked away from|phased out"
    r"|decommissioned|decided against|decided not to \w+|swore off|sworn off|cut ties with"
    r"|moved on from|moved off|broke (?:things|it) off with|divorced|sacked|left behind|wrapped up"
    r"|through with|(?:am|'m|are|'re|been) off|(?:took|taken) (?:me|us|user) off"
    r"|(?:ha(?:ve|s)(?:n't| not)) (?=(?:had"
    r"|eaten|drunk|touched|smoked)\b)|out of the running for"
    r"|stopped (?:taking|using|going to|seeing|doing|eating|drinking)"
    r"|took over (?:[\w'-]+ ){1,4}from"
    r"|in place of|turned down|kicked|kicked the habit of|outgrew|shut down|closed|disbanded"
    r"|lost the|broke (?:the|my|our)|smashed (?:the|my|our)|crashed (?:the|my|our)|rehomed"
    r"|gave notice (?:on|at|to)|bowed out of|(?:pulled|dropped) the plug on"
    r"|(?:dropped|scrapped|abandoned|given up) the (?:idea|plan|thought) of|moved out(?= of)"
    r"|checked out of|let go of|logged off|sold|ditched"
    r"|dropped(?! (?:[\w'-]+ ){1,4}(?:in|off|by)\b)|quit|quitting"
    r"|(?:gave|given|giving|gives) up|(?:got|getting|gotten) rid of|threw (?:out|away)|gave away"
    r"|stopped(?! (?:at|by|in|for|off|over|on|near|outside|here|there|and|to)\b)|ceased"
    r"|returned|replaced|swapped|traded in|handed in|handed (?:back|over)|cut out"
    r"|pulled out of|moved out of|moved away from|unsubscribed from|resigned from|retired from"
    r"|(?:said|say) goodbye to|(?:broke|split) up with|deleted|uninstalled|done with|no longer"
    r"|instead of|rather than|switched (?:away )?from|moved (?:over )?from|changed from"
    rf"|migrated (?:off|from)|left|lost (?:my|our)|no more|over with|{CANCELLED_IN_ENGLISH}"
    r"|(?:switched|changed|migrated) (?:[\w'-]+ ){1,4}from|got fired from|laid off from"
    r"|(?:gone|went|come|came) off|don't|do not|doesn't|can't|isn't|aren't|won't|not|no)\b"
    r"|\bhanded(?= (?:[\w'-]+ ){1,4}over\b)|\b(?:had|decided|managed) to (?:sell|cancel|give up"
    r"|drop|stop|pull out of|cut out|quit|leave|get rid of"
    r"|say goodbye to|part with|return|replace|give away|put down)\b"
    r"|\b(?:days?|weeks?|months?|years?) (?:\d+ )?without\b"
)
"""The thing that follows within a clause is over; after the words of `ONLY_WITH_ANY_MORE` only
with "any more".
"""
LEFT = _cue(
    r"\s(?:my |our |the )?[\w'’.-]{1,40}(?: (?!an?\b|at\b|in\b|on\b|early\b|late\b|open\b"
    r"|behind\b)[\w'’.-]{1,40})?"
    r"(?:\W{0,3}$|\W{1,3}(?:for(?! (?:the|a)\b)|last|after|to|and|because|two|three"
    r"|a (?:week|month|year) ago)\b)"
)
"""The words after "left" if it means a parting for good: left a company, not a coat in a room,
and not an hour late.
"""
SPLIT_END = _cue(
    r"\b(?:(?:traded|trading|traded) (?P<traded>(?:[\w'.-]+ ){1,4}?)in"
    r"|(?:let|letting) (?P<let>(?:[\w'.-]+ ){1,4}?)(?:lapse|expire|go|slide)"
    r"|(?:gave|given|giving|ha(?:d|ve) to give) (?P<gave>(?:[\w'.-]+ ){1,4}?)(?:up|away|back)"
    r"|(?:threw|thrown|chucked|tossed) (?P<threw>(?:[\w'.-]+ ){1,4}?)"
    r"(?:out|away)|(?:sent|brought) (?P<sent>(?:my |our |the )(?:[\w'.-]+ ){1,3}?)back"
    r"|shut (?P<shut>(?:[\w'.-]+ ){1,4}?)down|(?:called|broke) (?P<called>(?:[\w'.-]+ ){1,4}?)off"
    r"|(?:put|had) (?P<put>(?:[\w'.-]+ ){1,4}?)(?:to sleep|on hold|on ice)"
    r"|ha(?:d|ve) to put (?P<down>(?:[\w'.-]+ ){1,3}?)down(?! (?:for|in|as|on|the|my))"
    r"|(?:gave|given) (?P<rest>(?:[\w'.-]+ ){1,4}?)a (?:rest|miss)"
    r"|gave (?P<gift>(?:my |our |the )(?:[\w'.-]+ ){1,3}?)to (?=my|our|a|the|(?-i:[A-Z]))"
    r"|(?:had|got|getting|having) (?P<had>(?:my|the|our|his|her"
    rf"|that) (?:[\w'.-]+ ){{1,4}}?)(?:{_OVER}|replaced|stolen|{CANCELLED_IN_ENGLISH}))\b"
)
"""A verb of ending around its object: "traded the Civic in", "had the boiler replaced"."""
CHANGED_WHAT = _cue(
    r"\b(?:(?:changed|switched|swapped|renamed) (?:my |our |the |its |his |her )?"
    r"|(?:(?:got|have|has|am|is|are) (?:now )?(?:an? |at an? |in an? )?different"
    r"|\A\W{0,9}(?:\w+\W{1,3}){0,4}wrong) )(?P<what>[^\W\d_]{3,20})\b"
)
"""Names the thing that has been replaced: "I switched dentists", "sorry, wrong room"."""
AGAIN = _cue(r"\b(?:again|wieder|back (?:on|to|at))\b|(?:また|再び|復帰|再開)")
BEGINS = _cue(
    r"\b(?:vertrage|vertrag|esse|trinke|rauche|started|began|begun|gone back|went back|taken up"
    r"|took up|picked up|angefangen)\b"
    r"|(?:始め|再開)"
)
NOT_SO = _cue(
    r"n't\b|\b(?:not|no|never|quit|stopped|gave up|without|kein\w{0,2}|nicht|nie|ohne)\b"
    r"|(?:ない|ません|やめ|辞め)"
)
_EVENTS = """
    wedding trip deal party meeting holiday vacation engagement visit concert match game date flight
    project launch event tour sale picnic barbecue dinner move merger race hike cruise plan plans
    interview appointment surgery reunion conference workshop
"""
EVENTS = frozenset(_EVENTS.split())
"""Events are "off" when they do not take place; a lamp is off for the moment."""
ENDS_OF_SUBJECT = _cue(
    rf"\b(?:(?:was|is|were|are|got|get|been|being|gets) (?:\w+ly |just |finally |now )?(?:{_OVER}"
    rf"|{_ALTERED}|discharged|cured|elected|appointed|transferred|promoted|outvoted|taken)"
    r"|(?:am|are) no longer|isn't any ?more|(?:is|are|'s) (?:finally |now |all )?(?:off|out|over"
    r"|done|finished|gone)(?=\W*$)|(?:ran|flew|wandered) (?:away|off)(?=\W*$)"
    r"|didn't (?:survive|make it|come back)|broke(?=\W*$)|burst"
    r"|(?:'s|is|has|have|are) gone to (?=(?:the |a )?(?:scrap\w*|breaker\w*|tip|dump|charity"
    r"|auction|landfill|knackers?|skip|recycling|vet'?s to be)\b)"
    r"|bailed|flaked|ghosted|in my place|couldn't make it|(?:has|have) been (?:moved|switched|put)"
    r"|is through with|got (?:cut|canned)|burn(?:ed|t) (?:down|out)|kicked the bucket"
    r"|crossed the rainbow bridge|bit the dust|packed (?:up|it in)|conked out|went out of business"
    r"|(?:has|have|had)? ?folded(?=\W*$)|(?:is|are) (?:now |all )?(?:off|history|on hold|on ice"
    r"|kaput|toast)"
    r"(?=\W*$| (?:because|since|for now|until)\b)|lapsed|expired|ran out(?=\W*$)|came off"
    r"|fell apart|called it quits|went (?:our|their) separate ways|parted ways"
    r"|stepped (?:down|aside|back)|dropped out|pulled out|bowed out|backed out|ran away|was let go"
    r"|vanished|disappeared|stopped working|died on me|gave out"
    r"|has (?:died|passed|ended|closed|gone|quit|left|retired|folded|stopped)"
    r"|have (?:died|ended|closed|left|quit|stopped)|fizzled out|came to an end|wrapped up"
    rf"|{CANCELLED_IN_ENGLISH}|graduated|got divorced|(?:is|are) getting (?:a )?divorced?"
    r"|got (?:married|hitched)|tied the knot|(?:is|are) (?:divorced|separated)|died|passed away"
    r"|passed on|moved (?:out|away|on)|quit|retired|resigned|is gone|are gone|is over|is dead"
    r"|no more|(?:was|is|were|are|got|been|has been) (?:stolen|fired|laid off"
    r"|discontinued|scrapped|demolished|replaced)|fell through|went (?:bankrupt|bust|under)"
    r"|closed (?:down|for good|permanently|its doors)|closed(?=\W*$)|shut down|broke up|split up"
    r"|gave up the ghost|is no longer|ended"
    r"|left(?= (?:last|the|us|this|for|in|on|at|to|and|yesterday|today)\b|\W*$)"
    r"|had (?:the|her|their|our|a) (?:baby|boy|girl)|gave birth|put down|put to sleep)\b"
)
"""The thing that is named before it in a clause is over."""
ANY_MORE = _cue(r"\b(?:these days|nowadays|for good|any ?more|any longer|no longer|at all now)\b")
ONLY_WITH_ANY_MORE = frozenset(
    {"don't", "do not", "doesn't", "not", "no", "can't", "isn't", "aren't", "won't"}
)
ENDS_IN_GERMAN = _cue(
    r"\b(?:(?:musste|mussten|muss|müssen) [^.!?]{0,60}\b(?:verkaufen|abgeben|kündigen|absagen"
    r"|aufgeben|streichen|schließen|einschläfern|weggeben|stornieren|aufhören|abbrechen|zumachen"
    r"|einstellen|verschrotten)|doch (?:nicht|kein\w{0,2})|(?:lasse|lassen"
    r"|lässt) [^.!?]{0,40}\b(?:stehen|sein|bleiben"
    r"|einschläfern)|aus dem kopf geschlagen|(?:schluss|aus) mit|wird nichts"
    r"|(?:habe?|haben) (?:ich|wir) durch(?=\W*$)|durchgelesen|ausgelesen"
    r"|(?:bin|sind|ist) (?:(?:ich|wir|sie|er) )?(?:raus|durch)(?=\W*$)"
    r"|(?:ist|sind) (?:\w+ )?(?:weg|tot|kaputt|vorbei|hinüber|pleite|raus|ab|verheilt"
    r"|geheilt|gesund"
    r"|fertig|wieder da|zu ende)(?=\W*$)|verheilt|auskuriert|überstanden|umbenannt|weggegeben"
    r"|ausgemacht|wieder fit|(?:fällt|fallen|fiel|fielen) (?:[\w-]+ ){0,4}weg"
    r"|(?:hör|hört|höre|hörte) (?:[\w-]+ ){0,4}auf|(?:zieht|zog|steigt|stieg|tritt|trat"
    r"|scheidet|schied|läuft|lief|springt|sprang) (?:[\w-]+ ){0,4}aus"
    r"|(?:sagt|sagte|bricht|brach|gibt"
    r"|gab|bestellt|bestellte|meldet|meldete) (?:[\w-]+ ){0,4}(?:ab|auf)"
    r"|(?:macht|machte|schließt|schloss|sperrt) (?:[\w-]+ ){0,3}(?:zu|dicht)"
    rf"|{CANCELLED_IN_GERMAN}|verschrottet|vertickt|versetzt|verworfen|geklaut|gestohlen|verloren|verlegt"
    r"|verstorben|eingegangen|abgelaufen|ausgelaufen"
    r"|zerbrochen|zerstört|abgebrannt|weggelaufen|entlaufen|durchgebrannt|durchgerostet"
    r"|ausgemustert|entsorgt|eingetauscht|zurückgegeben|zurückgeschickt|zurückgetreten"
    r"|rausgeschmissen|gefeuert|weggefallen|eingestellt|stillgelegt|zugemacht|zusammengebrochen"
    r"|eingestampft|begraben|beerdigt|abgesetzt|ausgeschlichen|exmatrikuliert|gelöscht"
    r"|deinstalliert|gelassen|auseinander|pleite|insolvent"
    r"|abgehauen|gegangen|verlassen|geheiratet|umgekommen|erledigt|vom tisch|auf eis"
    r"|schluss gemacht|in zahlung gegeben|sein lassen|(?:rauch|alkohol|zucker|schulden|koffein)frei"
    r"|(?:ist|sind) (?:durch|futsch|rum|geplatzt|raus)(?=\W*$)|verkauft|abgegeben|gekündigt"
    r"|aufgegeben|aufgehört|abgeschafft|abgemeldet|abbestellt|verschenkt"
    r"|weggeworfen|losgeworden|stehen lassen|gestorben|eingeschläfert|ausgezogen"
    r"|(?:für immer|friedlich|sanft) eingeschlafen|über die regenbogenbrücke"
    r"|abgestürzt|kaputt gegangen|kaputtgegangen|ist (?:weg|tot|kaputt|vorbei|hinüber"
    r"|dicht|pleite)|sind (?:weg|vorbei)|geschlossen|dichtgemacht|getrennt|geschieden"
    r"|in (?:rente|pension) gegangen|nicht mehr|keine?[nmrs]? (?:[\w-]+ ){0,3}mehr|statt|ersetzt"
    r"|abgelöst|weggezogen|gegangen worden|rausgeworfen|entlassen|ausgestiegen|ausgetreten|beendet"
    r"|abgebrochen|hingeschmissen|geschmissen|\w{0,15}(?:vertrag|abo|abonnement|mitgliedschaft|verhältnis|studium|ausbildung|lehre|praktikum|ehe|beziehung"
    r"|anstellung|job|kurs) (?:[\w-]+ ){0,6}endeten?)\b"
)
ENDS_IN_JAPANESE = re.compile(
    r"(?:は休んで|控え|挫折|を出て|退院|治りまし|治った|あげまし|あげた|譲渡|移転|移住|上京|改名"
    r"|完治"
    r"|独立し|抜けまし|別居|辞め|やめ|止め|売っ|売り|売却|手放|亡くな|死ん|死に|天国|虹の橋を渡|永眠"
    rf"|{CANCELLED_IN_JAPANESE}|解約|退会|退職|退部|別れ|離婚|壊れ|引退|異動|閉店"
    r"|閉鎖|捨て|盗まれ|盗ま|失くし|無くし|なくしてしま|潰れ|つぶれ|倒産|中退|退学|禁煙|禁酒|破局"
    r"|破談|白紙|廃止|廃車|譲り|譲っ"
    r"|亡くし|他界|逝去|休止|終了|閉まって|辞退|脱退|解雇|クビ|解散|休会|退任|転校|手を引|見送"
    r"|削除し(?:まし|た)|壊し|割れ"
    r"|から[^、。]{0,20}(?:て|で)は?い(?:ません|ない)"
    r"|もう[^、。]{0,20}(?:ません|ない|なかった)|なくなりまし|治りまし|治った|完治"
    r"|なくなっ|卒業し|もう(?:[^、。]{0,20})ない|なくなりました|断念|諦め|処分|返し|返却|じゃなくて"
    r"|ではなく|でなく|の代わりに"
    r"|から(?:[^、。]{1,12})に"
    r"(?:変え|替え|乗り換え|切り替え|変更))"
)
SWITCH = _cue(
    r"\b(?:(?:been|was|got|get) (?:put on"
    r"|moved to(?!\W+(?:\d|next|later|noon|midnight|(?:mon|tues|wednes|thurs|fri|satur|sun)day))"
    r"|assigned to|reassigned|transferred to)"
    r"|(?:gone|went|going) (?:over to|with(?= (?-i:[A-Z])|\W\w+ instead))"
    r"|(?:upgraded|downgraded|ported|crossed over|jumped ship|defected)"
    r" (?:[\w'-]+ ){0,3}?to|(?:signed up|went|now|am|are|i'm|we're) with(?= (?-i:[A-Z]))"
    r"|(?:replaced|swapped|traded) (?:[\w'-]+ ){1,4}?(?:with|for)"
    r"|(?:bin|sind|ist) jetzt bei|jetzt bei|(?:wechsel|wechsle|wechseln"
    r"|wechselt) (?:[\w-]+ ){0,3}zu|zugelegt|(?:switched|switching|moved|moving|changed|changing"
    r"|migrated|converted) (?!an? )(?:[\w'-]+ ){0,4}?to(?!\W+(?:\d|next|later|noon|midnight"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day))|now using|(?:joined|picked up|bought"
    r"|got) (?:[\w'-]+ ){1,6}instead|umgestiegen|gewechselt|umgestellt|rübergewechselt|nehme jetzt"
    r"|nutze jetzt|verwende jetzt)\b|(?:に移り|に移っ|へ移|に代わ|に交代|へ変更|を始めました|に転"
    r"|乗り換え(?!を)|切り替え|鞍替え|移行し|に変え|に替え|に買い替え)"
)
PREFERS = _cue(
    r"\b(?:prefers?|preferred|like|likes) (?P<liked>[\w'+#.-]+) (?:over|to|rather than|more than"
    r"|instead of) (?P<other>[\w'+#.-]+)"
)
PREFERS_NOW = _cue(r"\b(?:prefers?|went back to|back to|switched to) (?P<liked>[\w'+#.-]+)")
NOW_INDEED = _cue(
    r"\b(?:now|nowadays|these days|from now on|jetzt|inzwischen|neuerdings|mittlerweile|ab jetzt"
    r"|ab sofort)\b|(?:今は|今では|これから|現在|最近は|\d{1,2}月から)"
)
NEW_IN_ITS_PLACE = _cue(
    r"\b(?:new|neue?[nrs]?|neuem)\s+(?P<what>boss|manager|supervisor|landlord|landlady|teacher"
    r"|doctor|gp|dentist|therapist|coach|trainer|roommate|flatmate|neighbou?r"
    r"|phone|laptop|computer|car|bike|bicycle|job|address|password|code|pin|e-?mail|bank|gym|girlfriend"
    r"|boyfriend|partner|nanny|babysitter|cleaner|hairdresser"
    r"|chef|chefin|vermieter|vermieterin|lehrer|lehrerin|hausarzt|hausärztin|zahnarzt|zahnärztin"
    r"|trainer|mitbewohner|mitbewohnerin|handy|rechner"
    r"|auto|wagen|rad|fahrrad|stelle|adresse|passwort|bank|freundin|freund)\b"
)
"""People have a single thing of each of these kinds, so that a new thing takes the place of the
old.
"""
NEW = _cue(r"(?:new|neu)")
NEW_HOLDER = _cue(
    r"\b(?:my|our|the|mein\w{0,2}|unser\w{0,2}|die|der|das) (?:new|neue[rnsm]?)"
    r" (?P<what>[\w-]{3,30})(?: is|'s| ist| heißt)\b"
    r"|\b(?:dyed|painted|coloured|colored|cut|shaved|repainted) (?:my|our"
    r"|the) (?P<made>[\w-]{3,30})"
    r" (?=[\w-]{3,20}\b)(?!(?:on|in|at|off|today|yesterday|last|this|again|down|back|and|with)\b)"
    r"|\bhad (?:my|our|the) (?P<had>[\w-]{3,30}) (?:dyed|painted|coloured|colored|cut|done) (?=\w)"
    r"|新しい(?P<ja>[一-龯ァ-ヶー]{2,8})(?:は|が)"
    r"|(?P<ja_made>[一-龯ァ-ヶー]{1,8})を[^、。]{1,8}(?:く|に)(?:切|染め|塗)"
)
"""The thing of which another is named as the new one: "our new goalkeeper is Tim"."""
NAMED_AS = _cue(
    r"\b(?:my|our|the|mein\w{0,2}|unser\w{0,2}|die|der|das) (?P<what>[\w-]{3,30})"
    r"(?: is|'s| ist| heißt)\b"
    r"|(?:\A|[。、])(?P<ja>[一-龯ァ-ヶー]{1,8})(?:は|が)"
    r"|\b(?:is|ist) (?:my|our|mein\w{0,2}|unser\w{0,2}) (?P<whose>[\w-]{3,30})(?=\W|\Z)"
)
"""The thing as which a person or a thing is named: "our goalkeeper is Ben"."""
HAS_NOT = _cue(
    r"\b(?:don't|do not|doesn't|does not) (?:own|have)\b|\b(?:have|has|had|own|owns) no\b"
    r"|\b(?:habe?|haben|hat|besitze?n?|besitzt) kein\w{0,2}\b|持っていません|持っていない"
    r"|飼っていません"
    r"|がありません|がいません"
)
GETS = _cue(
    r"\b(?:I|we)(?:'ve| have)? (?:\w+ly |just )?(?:bought|adopted|purchased|got"
    r"(?= (?:myself|ourselves)\b)) (?:myself |ourselves )?an?\b(?! (?:few|lot|bit|bunch)\b)"
    r"|\b(?:mir|uns) (?:[\w-]+ ){1,4}(?:gekauft|angeschafft|zugelegt)\b|を(?:買いました|購入|迎え"
    r"|飼い始め|もらい)"
)
"""Says that a person has a thing from now on."""
FAVOURITE = _cue(r"\bfavou?rite\b|\blieblings\w+|好きな|一番好き")
LIKES_BEST = _cue(
    r"\b(?:prefer|prefers|like \w+ (?:better|best|more)|am liebsten|am besten|lieber)\b"
    r"|のほうが(?:好き|いい)|の方が(?:好き|いい)"
)
DIED = _cue(r"\b(?:died|passed away|is dead|verstorben|gestorben|ist tot)\b|亡くな|他界|逝去")
TAKES_OVER = _cue(
    r"\b(?:took|taken|takes|taking) over\b|\bin (?:my|his|her) place\b"
    r"|\b(?:übernimmt|übernommen|übernahm)\b|引き継|に代わ|に交代|に変わ"
)
TO_BE_DONE = _cue(r"\b(?:(?:need|needs|have|has|got|ought) to|must|gotta|muss|müssen|brauche)\b")
"""Words before a task that is yet to be done: "I need to write to my new boss" tells no news of the
boss.
"""
ANNOUNCED = _cue(r"\b(?:(?:will|'ll|going to) be|wird)\b")
"""Words that announce a person: the new boss is that boss."""
OWNED = _cue(
    r"\b(?:my|our|mein\w{0,2}|unser\w{0,2}|(?:have|drive|own|use|habe|fahre|nutze) "
    r"(?:an?|eine?[nms]?)) (?:(?:old|used|alte[nrs]?) )?(?P<what>[\w-]{1,30})"
)
STAGES = (
    "nursery kindergarten preschool daycare crèche kita krippe 幼稚園 保育園",
    "school schule schulkind einschulung primary grundschule 小学校 小学生 小学",
    "gymnasium secondary realschule gesamtschule 中学校 中学",
    "college university uni studium studiert studies 大学 大学生",
)
"""Stages of life, in order."""
MOVES = _cue(
    rf"\b(?:{_ALTERED}|tightened|loosened|widened|refinanced"
    r"|(?:won't|not) (?:\w+ ){1,3}(?:until|before|till)|erst (?:im|um|ab|ende|anfang|nächste\w*)"
    r"|came (?:back|in|out) at|(?:auf|in) [\w-]+ (?:gelegt|legen|verlegen|verschieben)|verlangt"
    r"|hinaus|rutscht|rückt|wandert|scrapped|axed"
    r"|discontinued|slipped|slid|pulled forward|set back|put back|slashed|trimmed|halved|doubled"
    r"|tripled|upped|hiked|climbed|fell to|shrank|shrunk|goes? from|went from|renegotiated|amended"
    r"|swapped|replaced|upgraded|downgraded|relocated|renamed|mixed (?:\w+ ){1,2}up"
    r"|got a (?:pay )?(?:raise|rise)|wrong|no longer|down by|up by"
    r"|nach (?:hinten|vorne?)|reduziert|herabgesetzt|hochgesetzt|runtergesetzt|angepasst|verdoppelt"
    r"|halbiert|abgenommen|zugenommen|verwechselt|verlegen wir|moved|moves|moving|shifted"
    r"|pushed|bumped|delayed|extended|raised?"
    r"|(?:increase|revise)d?(?= (?:the|my|our|it|[\w-]{3,30} to \d{1,9})\b)"
    r"|decreased?|lowered|reduced|cut (?:to|from|back|down|by|(?:my|our|the"
    r"|it) (?:[\w-]+ ){0,3}(?:to|from|by))|went up|goes up|gone up|went down|gone down"
    r"|put (?:[\w'-]+ ){1,4}up|up to|down to|changed|adjusted|updated"
    r"|grew|grown|rose|risen|dropped to|turns out|i meant|we meant|misread"
    r"|mixed up|got it wrong|correction|no wait|instead"
    rf"|{PUT_ELSEWHERE_IN_GERMAN}|verschiebt|steigt|sinkt|erhöht sich|umgebucht|erhöht"
    r"|gestiegen|gesenkt|gesunken|teurer|runter|rauf|hoch auf|aufgestockt|gekürzt|korrigier\w*"
    r"|vertan|verguckt|verlesen|geirrt|sondern|doch|erst am|verlängert|angehoben)\b"
    rf"|(?:{PUT_ELSEWHERE_IN_JAPANESE}|変わ|変え|移っ|移り|移動|ずら|早ま|増え|増や|減っ|減ら|上が|下が|値上げ|値下げ|伸び"
    r"|になった|になりました|になっちゃ|にした|にしました|間違|訂正"
    r"|じゃなくて|ではなく)"
)
_WHEN = f"(?:now|today|tomorrow|then|{ANY_MONTH}|{ANY_WEEKDAY}|next (?:week|month|year|term))"
_FROM_MONTH = "|".join(PLAIN_MONTHS)
_GERMAN_WORKDAY = "|".join(GERMAN_WEEKDAYS[:5])
NOW = _cue(
    r"\b(?:from "
    rf"{_WHEN} on(?:wards?)?"
    rf"|starting (?:\w+ )?(?:today|tomorrow|{ANY_WEEKDAY}|week|month|{_FROM_MONTH})|effective"
    rf"|going forward|ab (?:nächste\w*|dem|der|{ANY_GERMAN_MONTH}|{_GERMAN_WORKDAY})|künftig"
    rf"|seit (?:kurzem|neuestem|{ANY_GERMAN_MONTH}|montag|diese\w*|letzte\w*)"
    r"|now"
    r"|(?:the|my|our|its) new(?! \w+ (?:of|for) )|(?:is|'s|are) actually|from now on"
    r"|nowadays|these days|as of|jetzt"
    r"|(?:der|die|das|mein\w{0,2}|unser\w{0,2}) neue[rnsm]?"
    r"|neuerdings|inzwischen|mittlerweile|nur noch(?= \d)"
    r"|ab (?:jetzt|sofort|heute|morgen)|seit (?:dem|heute|gestern|letzter|letztem))\b"
    r"|(?:今は|今では|新し|これから|現在|今度|最近は|\d月から)"
)
GOES_ON = _cue(
    r"\b(?:still|stays?|stayed|remains?|remained|keeps? (?:on|going)|continues?|unchanged|as before"
    r"|immer noch|noch immer|weiter(?:hin)?|bleibt|bleiben|bleibe|unverändert)\b"
    r"|(?:まだ|そのまま|続け|のまま|変わらず|引き続き)"
)
"""Says that something is as it was: "Prod is on 16 now, staging still on 15"."""
FROM_NOW = _cue(
    rf"\b(?:from {_WHEN} on(?:wards)?|going forward|these days|nowadays|as of"
    r"|ab (?:jetzt|sofort|nächste\w*)|künftig|neuerdings|inzwischen"
    r"|mittlerweile)\b|(?:これから|今後)"
)
"""A state that begins at a time was different before that time."""
INSTEAD = _cue(r"\b(?:(?:jetzt|nun) doch|(?:doch|jetzt) lieber|stattdessen|after all)\b")
"""A plan or a state is otherwise than it was to be."""
STOPPED = _cue(
    r"\b(?:I|we|I've|we've)\b[^,]{0,20}\b(?:cancell?ed|quit|stopped|gave up|given up|sold up"
    r"|dropped out|packed it in|moved on|switched)\W*$"
)
"""Ends what the clause before it is about: "the gym was packed so I've cancelled"."""
NAME_OFF = re.compile(r"\b(?P<name>[A-ZÄÖÜ][^\W\d_]{2,30})(?:'s| is) off\W*$")
"""A plan that is off, named by its place: "Crete's off, it's Sardinia now"."""
CORRECTS = _cue(
    r"\A\W{0,3}actually,? (?:my|our) [\w' ]{2,30} (?:is|are) (?:called |named )?[\w-]{2,30}, not"
    r" [\w-]{2,30}[.!]?\Z|\b(?:no wait|i meant|my bad(?= *(?:[,.:;!]|$))|scratch that|typo"
    r"|misremembered|misspoke|mistyped|i was wrong|that was wrong|let me correct|my mistake"
    r"|mixed (?:\w+ ){0,2}up|(?:sorry|oops|no)\W{1,3}(?:it's|it is|that's|wrong|i mean)"
    r"|(?:sorry|oops)\W{1,3}(?:on|at|in) (?=\d)|wrong (?=\w+\b\W)"
    rf"|(?:{EXCUSES}|no|nein)\W{{1,3}}(?:(?:no|on|am)\W{{1,3}})?(?:{ANY_WEEKDAY}|{ANY_GERMAN_WEEKDAY}"
    r"|\d{1,6})(?=\W*\Z|[.!,])"
    r"|verwechselt|quatsch|vertippt|tippfehler|verrechnet|falsch|ich meinte"
    r"|nein\W{1,3}(?:es|der|die|das|am|um|erst|ist)|misread|mixed up|got it wrong|correction|vertan"
    r"|verguckt|verlesen|geirrt|korrigier\w*)\b"
    r"|\b(?:sorry|oops|no|nein|entschuldigung)\W{1,3}[^.!?,;]{2,60}, (?:not|nicht)"
    r" (?-i:[A-ZÄÖÜ])[\w-]{1,30}(?= *(?:[.!]|$))"
    rf"|, (?:not|nicht) (?:on |at |am |um )?(?:[€$£]?\d[\d.,]{{0,9}}|(?:{ANY_WEEKDAY}"
    rf"|{ANY_GERMAN_WEEKDAY})s?)(?= *(?:[.!]|$| (?:am|pm|uhr|euros?|pounds?|dollars?)\b))"
    r"|(?:間違|訂正|勘違|違った|違いまし|見間違|言い間違)|\A(?:すみません|ごめん|いや)、[^、。]{1,8}でした"
)
NAMED_OLD = _cue(
    r"\b(?:from|instead of|rather than|told you|thought|was|not(?: on| at)?|nicht(?: am| um)?"
    r"|statt(?: am| um)?|von)\s+(?:the\s+|dem\s+|on\s+)?"
    r"(?P<old>[^\s,;.!?]+(?:\s+(?:uhr|am|pm))?)|(?P<alt>[^、。はがを]{1,12})(?:じゃなくて|ではなく"
    r"|でなく)"
)
"""The former state that a change names: its value is not the new value."""

BY_HOW_MUCH = _cue(
    r"\bby (?:about |almost |some )?[€$£]?\d[\d.,]{0,12}+"
    r"(?! ?(?:am|pm|o'clock|st|nd|rd|th)\b)(?: ?(?:%|\w{1,20}+))?"
    r"|\b\d{1,6}+(?:[.,]\d{1,6}+)? ?(?:%|percent) (?:more|less|increase|decrease|raise"
    r"|rise|higher|lower)\b"
)
"""The amount of a change, which is no value of the thing itself."""
WRONGLY_NAMED = _cue(
    r"\b(?:not|nicht|instead of|rather than|statt) (?:(?:at|in|to|by|bei|nach|mit) )?"
    r"(?:(?:the|an?|der|die|das|den|dem) )?(?P<name>[^\W\d_][\w-]{1,30})(?=[.!?,;]|$)"
    r"|(?P<alt>[゠-ヿ一-龯]{2,12})(?:じゃなくて|ではなく|でなく)"
)
"""The name that a correction says was told wrongly: "Bosch, not Siemens"."""
THIS_ONCE = _cue(
    rf"\b(?:(?:this|next) (?:week|weekend|{ANY_WEEKDAY})|today|tonight|tomorrow"
    rf"|(?:diese|nächste|kommende)[nrsm]? (?:woche|wochenende|{ANY_GERMAN_WEEKDAY})|heute|morgen)\b"
    r"|今日|今週|来週|明日"
)
SOME_TIME = _cue(
    r"\b(?:mornings?|afternoons?|evenings?|nights?|weekends?|lunchtimes?"
    r"|(?:at|um) (?:half|quarter|[a-zäöü]{3,6})(?= |\W|$)"
    r"|daily|weekly|monthly|hours?|minutes?|(?:every|each|next|this|in a|in two) (?:day|week"
    r"|fortnight|month|spring|summer|autumn|winter|year|term)s?)\b"
)
"""A time that is told without a day or a clock."""
RECURS = _cue(
    rf"\b(?:every|each|daily|weekly|monthly|twice|always|\w{{1,9}} times an?|(?:{ANY_WEEKDAY})s"
    rf"|(?:{ANY_GERMAN_WEEKDAY})s|jede[nrsm]?|immer|täglich|wöchentlich|\w{{1,9}}mal (?:die|in der"
    r"|pro|im))\b|毎[日週月朝晩年]|週[\d一二三四五六七]回"
)
"""Words for what is done again and again."""
SINGLE_DAY = _cue(
    rf"\b(?:(?:this|last|next|on) (?:\w+ )?(?:week|weekend|morning|evening|{ANY_WEEKDAY})"
    r"|today|tonight|tomorrow|yesterday|(?:diese|letzte|vergangene|nächste|kommende)[nrsm]?"
    rf" (?:woche|wochenende|{ANY_GERMAN_WEEKDAY})|am (?:\w+ )?{ANY_GERMAN_WEEKDAY}|heute|gestern"
    r"|vorgestern|morgen)\b|今[日朝夜晩週]|昨[日夜晩]|先週|来週|明日"
)
FROM_OLD = _cue(
    r"\b(?:from|von)\s[^\s,;.!?]{0,3}\d[^\s,;!?]{0,12}(?:\s[^\s,;.!?]{1,12})?(?=\s(?:to|up to"
    r"|down to|auf)\s)"
)
"""The former state, in a sentence that names it before the present state."""
DENIED = _cue(
    r"(?:n't|\b(?:not|never|nor|without|won|don|nicht|nie|kein\w{0,2}))(?:\s+[\w']+){0,2}\s*$"
)
"""Words before a verb of ending that say that it did not end."""
AHEAD = "will|going to"
"""Words for the future, as alternatives of an expression."""
SUPPOSED = _cue(
    rf"\b(?:{AHEAD}|would|should|could|might|maybe|i'd|id love|we'd|if|wish|supposed|imagine|let's"
    r"|try to|want(?:s|ed)? to|hopes? to|wanna|gonna|remember to|why don't|unless|whether|almost"
    r"|nearly"
    r"|as soon as|sobald|once (?:i'm|i am|i've|we're|we are|we've|it's|it is|he's|she's|they're)"
    r"|dream\w*|dreamt|träum\w*|pretend\w*|suppose|novel|the game|joked|sollte|könnte"
    r"|würde|wenn|falls"
    r"|vielleicht|möchte)\b|(?:たら|なら|かもしれ|たい|だろう)"
)
"""Words in a clause that tells no fact."""
_FICTION = "film|movie|series|novel|book|episode|documentary|story|serie|roman|buch|krimi"
OF_STORY = _cue(
    rf"\b(?:watch(?:ed|ing)? (?:an?|the|this|that)|(?:saw|seen|read|reading) an?)"
    rf" (?:[\w-]+ ){{0,2}}(?:show|{_FICTION})\b"
    rf"|\b(?:in (?:the|an?|this|that|dem|einem|der|einer)|im) (?:{_FICTION})\b"
    r"(?! (?:club|group|industry|business|shop|store|trade))"
    rf"|\b(?:{_FICTION}) (?:gesehen|gelesen|geschaut)\b"
    r"|(?:映画|小説|漫画|ドラマ|アニメ)(?:の中)?[でを]"
)
"""Words of a sentence that retells a film or a book."""
OF_EARLIER_TIME = _cue(
    r"\b(?:in|until|till|im jahr|bis) (?:19|20)\d\d\b|\byears ago\b|\bvor \w{2,12} jahren\b"
    r"|\b(?:as an?|als) (?:child|kid|teenager|student|kind|jugendlicher?|studentin)\b"
    r"|\b(?:back then|damals)\b|(?:の頃|昔)"
)
"""Words for a time long before, in a sentence that tells how something was then."""
SEVERAL_TIMES = _cue(
    r"\b(?:(?:\d{1,3}|two|three|four|five|several|many) times|twice"
    r"|(?:\d{1,3} ?|zwei|drei|vier|fünf|mehr)mals?)\b"
    r"(?! (?:an?|per|each|every|die|pro|in der|im|am)\b)"
)
"""What happened several times is not over."""
NOT_YET = _cue(r"\b(?:still not|not yet|noch nicht) *\Z")
"""Words before a change that has not come."""
OF_OTHERS = _cue(r"\b(?:they|you|they've|you've|they'd|er|ihr)\b")
"""Subjects of unknown people; "he" and "she" were named before."""
OWN = _cue(
    r"\b(?:i|i'm|i've|im|ive|my|mine|we|we're|we've|our|ours|us|me|user|user's|users|the|ich"
    r"|mein\w{0,2}|wir|unser\w{0,2}|uns|mir|mich|der|die|das)\b"
    r"|\A\W{0,9}(?:ist|sind|hab|bin) (?:ein|der|die|das|noch|schon)\w{0,2}\b"
    r"|\b(?-i:[A-Z][a-z]{1,20}) (?:is|has|lives|works|runs|listens|earns|costs)\b|\Apet \w{1,20}:"
    r"|[\u3041-\u30ff\u4e00-\u9fff]"
)
GERMAN = _cue(
    r"[äöüß]|\b(?:hat (?:die|das|den|sich|jetzt|seinen?|ihren?)|endlich|herr"
    r"|die (?-i:[A-ZÄÖÜ])[a-zäöü]{2,30}|der|das|dem|wird|werden|wurden|auf|von|vom|nein|sich|ins"
    r"|aufs|noch|ein|eine[nmrs]?|sie|uns|mich|mir|bei|ich|wir|mein\w{0,2}|unser\w{0,2}|nicht|und"
    r"|ist|bin|hab|habe|haben|jetzt|kein\w{0,2}|seit|beim|zum|wurde|nach|geht"
    r"|fährt)\b"
    r"|\b(?:hat|haben) (?:[\w-]+ ){0,4}\w{0,6}ge\w{2,12}(?:t|en)(?=\W*$|[,;])"
)
USES_NOW = _cue(r"\busing\b")
USING = _cue(
    r"\b(?:keep|order|shop|host|hosted|track|store|use|uses|using|buy|drink|eat|take|all my"
    r"|everything|write|writes|code in|coding in|run|running|drive|bank|subscribe|on an? "
    r"|with|team|i (?:like|prefer)|nutze|benutze|verwende|nehme|habe|bei|bin|kaufe"
    r"|ist)\b|(?:使|派|乗って|愛用)"
)
"""Words for the use of a thing."""
TO_NUMBER = _cue(
    r"\b(?:to|up|down|at|on|it's|is|now|be|auf|jetzt|bei|ist|sind|es|we're)\s+"
    r"(?:[€$£¥]?\s?\d|(?:two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|sechs"
    r"|sieben|acht|neun|zehn)\b)"
)
TO_LISTENER = _cue(r"\b(?:you|your|yours|yourself|du|dir|dich|dein\w{0,2}|euch|euer)\b")
PAST = _cue(
    r"\b(?:was|were|used to|had been|would|did|went|\w+'d|war|waren|hatte|hatten|wurde)\b"
    r"|(?:でした|ました|かった|だった)[。！!]*$"
)
PRESENT = _cue(
    r"\b(?:am|is|are|\w+'(?:m|s|re|ve)|have|has|do|does|will|live|work|use|drive|eat|drink|take|go"
    r"|pay|play|run|like|love|prefer|own|rent|plan|teach"
    r"|bin|ist|sind|habe|hab|hat|haben|wohne|arbeite|fahre|esse|trinke|nehme|mag|gehe)\b"
    r"|(?:です|ます|ている|てる|だ)"
)
