"""Expressions by which `wishes` reads what a person asks of the memory, in English, German and Japanese."""

from __future__ import annotations

import re

LEAD = (
    r"(?:(?:ok(?:ay)?|so|and|but|also|oh|hey|hi|well|right|actually|btw|by the way|one more thing|one thing|quick note|note"
    r"|reminder|just|thanks"
    r"|thank you|hm+|in addition|additionally|übrigens|ach ja|ach|also|und|noch was|noch etwas|danke|okay|gut)\b[,.:!;]*\s+){0,3}"
)
ASKED = (
    r"(?:(?:please|pls|kindly|bitte|could you|can you|would you|will you|i want you to|i'd like you to|i would like you to"
    r"|i need you to"
    r"|is it possible (?:for you )?to|would it be possible (?:for you )?to|are you able to|would you mind|i'd like|i want|let's"
    r"|i'd prefer (?:it )?if you(?:'d| would)?|you should|you must|you can|you may|make sure (?:that )?you|make sure to"
    r"|be sure to|try to"
    r"|remember to|remember:?|from now on|going forward|in (?:the )?future|starting (?:now|today)|kannst du|könntest du"
    r"|würdest du|du sollst"
    r"|ich möchte,? dass du|ab (?:jetzt|sofort|heute)|von jetzt an|von nun an|künftig|zukünftig|in zukunft)\b[,:]?\s+){0,4}"
)
OPENING = re.compile(rf"\A{LEAD}{ASKED}", re.IGNORECASE)
FORGET = re.compile(
    r"\A(?:just |bitte |einfach )?(?:forget|unlearn|vergiss|vergesse|vergessen sie)\b(?: bitte| please| einfach| wieder){0,2}[ ,:]*"
)
REMOVE = re.compile(
    r"\A(?:just |bitte )?(?:delete|remove|erase|wipe|drop|scrub|clear|get rid of|take out|lösche?|entferne|streiche?|lass|nimm)\b"
    r"(?: bitte| please)?[ ,:]*"
)
TOLD = re.compile(
    r"(?:what(?:ever)?|everything|anything|all(?: of)?(?: the)?(?: things?| stuff)?|the things?|the stuff|stuff)(?: that)?"
    r" (?:i|i've|i have|we|you) (?:ever |just |have |had |once |previously |already |'ve )*(?:said|told you|tell you"
    r"|mentioned|shared|wrote|know"
    r"|knows|remember|stored|saved|noted|have|learned|learnt|remembered|kept|recorded|discussed|talked)"
    r"(?: with you| to you| down)?(?: (?:earlier|before|yesterday|today|last \w+|the other day|recently|a while ago|so far))?"
)
ABOUT = re.compile(r"\A\W*(?:about|on|regarding|concerning|re|of|über|zu|zum|zur|von|vom|bezüglich)\b:?\s*(?:the fact that )?")
ALL_ABOUT = re.compile(
    r"\A(?:everything|anything|all(?: of it| info(?:rmation)?| details?| data| memories| notes?| facts?)?"
    r"|any info(?:rmation)?|any details?"
    r"|info(?:rmation)?|(?:the|your|all|any) (?:info(?:rmation)?|details?|memor(?:y|ies)|notes?|facts?|data|entries|entry"
    r"|records?)) (?:you (?:have|know|saved|stored|remember) )?"
    r"(?:about|on|regarding|concerning|related to|that mentions?|mentioning|with) "
)
FROM_MEMORY = re.compile(
    r"\b(?:from|out of|in) (?:your|the) (?:memory|memories|notes?|records?|storage|database|history|brain|profile)\b"
    r"|\bfrom what you know"
    r"|\byou (?:have )?(?:saved|stored|remember(?:ed)?|noted|kept|know)\b|\bi(?:'ve)? (?:told|gave|sent|shared with) you\b"
    r"|\bi (?:said|mentioned)\b"
)
GERMAN_TOLD = re.compile(
    r"\A(?:(?:alles|das|was|alle infos?|alle informationen|die infos?|die informationen|den eintrag|die einträge|die sache"
    r"|die geschichte)"
    r"(?:,? was)?(?: ich| du)?(?: dir)?\s*){1,4}"
)
GERMAN_SAID = re.compile(
    r"[, ]{0,3}(?:(?:dir|hier|vorhin|gestern|eben|gerade|neulich|letzte woche|mal|jemals|je|vorher|zuvor|auch) ){0,3}"
    r"(?:gesagt|erzählt|geschrieben|erwähnt|mitgeteilt|verraten|weißt|gespeichert|gemerkt|notiert|gegeben"
    r"|anvertraut)(?: (?:hab|habe|hatte|hast))?\b.{0,20}\Z"
)
GERMAN_MEMORY = re.compile(r"\b(?:aus|in) (?:dein\w*|dem) (?:gedächtnis|speicher|notizen|erinnerungen?|daten|profil)\b")
JA_FORGET = re.compile(
    r"忘れて(?:ください|下さい|ほしい|欲しい|くれ|もらえ|いただけ|おいて|ね|よ|。|！|!|\Z)|忘れて|なかったことにして"
    r"|覚えておかないで|覚えてなくていい"
)
JA_REMOVE = re.compile(r"(?:消して|消しといて|消しておいて|削除して|消去して|消してもら|削除してもら)")
JA_MEMORY = re.compile(r"記憶|覚え|話|言った|教えた|伝えた|こと|情報|メモ|件|記録|保存")
JA_NOT = re.compile(
    r"忘れて(?:い|し|た|る|き|な|は|も|ばかり|は困|しま)|無視|指示|忘れないで|ファイル|フォルダ|コード|行|メール|写真|画像|コメント"
    r"|関数|テーブル|列"
)
JA_TOPIC_END = re.compile(
    r"(?:(?:について|に関して|に関する|の|という|って(?:いう)?)?(?:(?:前に|さっき|先日|この前|昨日|以前|先ほど)?(?:私が"
    r"|僕が)?(?:話した|言った|教えた|伝えた|お伝えした|お話しした)?"
    r"(?:こと|話|件|内容|情報|記憶|記録|メモ|やつ|の))?(?:を|は|も|全部|すべて|全て|、)?(?:記憶から|メモから"
    r"|記録から)?(?:全部|すべて|全て)?、?\s?(?:もう|どうか)?)\Z"
)
JA_TOPIC_LEAD = re.compile(
    r"\A(?:すみません(?:が)?|ごめん(?:なさい)?|お願い(?:です)?|あの|ところで|やっぱり|やはり|前に|さっき(?:の)?"
    r"|この前(?:の)?|先日(?:の)?|昨日(?:の)?|以前(?:の)?|先ほど(?:の)?|私が|僕が|話した|言った|教えた|[、。\s])+"
)
NOTHING = frozenset(
    [
        "it",
        "that",
        "this",
        "them",
        "these",
        "those",
        "all",
        "everything",
        "anything",
        "about",
        "it",
        "about",
        "that",
        "the",
        "above",
        "whatever",
        "nothing",
        "you",
        "me",
        "him",
        "her",
        "what",
        "i",
        "said",
        "es",
        "das",
        "dies",
        "den",
        "es",
        "bitte",
        "alles",
        "ist",
        "egal",
        "schon",
        "gut",
        "nicht",
        "ihn",
        "sie",
    ]
)
SOMETHING_OF_MINE = re.compile(
    r"(?:i (?:ever )?(?:said|told|mentioned|shared)\b|the (?:whole )?(?:thing|story|stuff|bit|part|conversation"
    r"|business|number|address|name|date) (?:with|about|on|of|i)\b"
    r"|die (?:geschichte|info\w*|adresse|nummer|daten|diagnose)\b|den (?:namen|ort|vorfall|streit)\b|was (?:ich|du)\b"
    r"|alles (?:über|zu|von|was)\b|that (?:i|my|we|our|he|she)\b|the fact|about (?:my|our|the|[a-zäöü]+'s)\b|my\b"
    r"|our\b|mein\w*\b|unser\w*\b|dass (?:ich|mein|wir)"
    r"|das mit\b|die sache mit\b|the thing about)"
)
NOT_FORGET = re.compile(
    r"\A(?:to |that i (?:asked|need|wanted)|i (?:asked|need)|about (?:it|that|this)\b|it\b(?!')|nicht\b|nie\b|bloß nicht"
    r"|ja nicht|mich nicht|das einfach\Z)"
)
THINGS = re.compile(
    r"\b(?:files?|folders?|rows?|columns?|tables?|lines?|code|branch(?:es)?|commits?|comments?|functions?|class(?:es)?"
    r"|paragraphs?|sentences?"
    r"|words?|duplicates?|items?|e-?mails?|photos?|pictures?|images?|accounts?|apps?|cookies|cache|logs?|tests?|imports?|section|draft"
    r"|datei\w*|ordner|zeilen?|spalten?|tabellen?|absatz|absätze|satz|sätze|fotos?|bilder|mails?|kommentare?)\b"
)
LAST = re.compile(
    r"\A(?:what|everything|das|was|the last thing|that last|alles)\b.{0,20}\b(?:just|eben|gerade|gerade eben|last message"
    r"|letzte nachricht)\b.{0,25}\Z"
)
STANDING = re.compile(
    r"\b(?:always|never|from now on|going forward|in (?:the )?future|every time|each time|whenever (?:you|i)|by default"
    r"|at all times|ever again"
    r"|for all|any ?more|no longer|no more|all your (?:answers|replies|responses)|(?:your|in|the) (?:answers|replies"
    r"|responses|explanations|messages"
    r"|examples|recipes|suggestions|recommendations)|permanently|at the end of (?:each|every)|unless i (?:ask|say)"
    r"|when(?:ever)? you (?:answer|reply|respond"
    r"|explain|suggest|recommend|write|give|talk)|every (?:answer|reply|response)|when i ask"
    r"|immer|nie|niemals|ab jetzt|ab sofort|ab heute|von jetzt an|von nun an|künftig|zukünftig|in zukunft|grundsätzlich"
    r"|nur noch|stets|nicht mehr"
    r"|keine? .{1,40} mehr|jedes mal|in deinen antworten|deine antworten|wenn du (?:antwortest|schreibst|mir)|standardmäßig)\b"
)
_VERBS = """
    use answer reply respond write speak talk give keep call address refer format show explain include add put avoid stop don't do not
    never always suggest recommend mention bring ask tell assume treat convert list start end begin be make limit prefer stick skip
    leave check cite quote summarize summarise remind greet sign translate default provide offer describe name spell round state mark
    highlight number bullet refrain antworte antwort schreib schreibe nutze nutz verwende verwend benutze benutz nimm gib zeig zeige
    sag sage nenn nenne empfiehl empfehle schlag schlage halt halte erklär erkläre rede red sprich duze duz sieze fass fasse formulier
    formuliere rechne erwähn erwähne frag frage bleib bleibe vermeide hör lass kein keine keinen bring mach mache erinner erinnere
    komm verzichte übersetz übersetze
"""
STARTS = frozenset(_VERBS.split())
FORBIDS = re.compile(
    r"\A(?:do not|don't|never|please don't|stop|no more|avoid|refrain from|quit)\s+(?:ever\s+"
    r"|to\s+)?(?:keep(?:ing)?\s+)?(?:show|suggest|recommend|mention|bring|talk|remind|us(?:e|ing)|call|ask|giv"
    r"|send|tell|add|includ|writ|reply|respond|assum|offer|speak|refer|put|start|end|address|propos|apolog|answer|say"
    r"|discuss|quote|repeat|translat"
    r"|round|sugarcoat|lecture|compliment|bullet)\w*\b"
    r"|\A(?:sprich|rede|frag|zeig|schlag|erwähn|empfiehl|nenn|bring|benutz|verwend|nutz|schreib|antwort|komm|erinner|sag"
    r"|fang)\w*\b.{0,60}\b(?:nicht|nie|niemals|kein\w*)\b"
    r"|\A(?:duze? mich|sieze? mich|sag (?:bitte )?du|call me)\b|\A(?:keine?n?|no)\b.{1,60}\b(?:bitte|please|mehr)\Z"
    r"|\A(?:hör auf|lass das)\b"
)
ONE_OFF = re.compile(
    r"\b(?:this|these|here|that (?:file|function|code|email|mail|draft|list|table|essay|letter|text|paragraph|one)"
    r"|the (?:file|function|code|e?-?mail|draft"
    r"|list|table|essay|letter|text|paragraph|following|above|recipe|script|query|report|document|cover letter)|for now"
    r"|today|tonight|tomorrow"
    r"|diese\w*|heute|morgen|hier|the (?:chicken|oven|butter|onions|dough))\b"
)
HOUSEHOLD = re.compile(
    r"\A(?:don't|do not|never) (?:forget|worry|know|think|mind|get|understand|want|like|need|have|feel|remember|believe|care"
    r"|see|be|let|miss|give up)\b"
)
JA_STANDING = re.compile(
    r"いつも|必ず|今後|これから|毎回|常に|絶対に?|以後|ずっと|基本的に|回答|答え|返事|返信|返答|説明|話して|使って|使わ|呼ん"
    r"|書いて|書か|提案|勧め|すすめ|出さ|話題|触れ|言わ|の話は|もう"
)
JA_ASKS = re.compile(
    r"(?:て|で)(?:ください|下さい|ほしい(?:です)?|欲しい(?:です)?|くれる\?*|ね|よ)?[。！!]*\Z|(?:ように|お願い|頼みます"
    r"|でお願いします|禁止)(?:して|し|です|ください|します|ね)*[。！!]*\Z|ないで"
)
JA_INSTRUCTION_VERBS = re.compile(
    r"使|答え|回答|返事|返信|返答|話し|呼|書|提案|勧め|すすめ|説明|出さ|触れ|言わ|話題|単位|敬語|タメ口|箇条書き|日本語|英語"
    r"|短く|簡潔|丁寧|絵文字|しないで|聞かないで|持ち出さ"
)
JA_ONE_OFF = re.compile(r"これを|この|それを|その文|以下|次の文|今日|明日")
PREFERS = re.compile(
    r"\bI(?:'d| would)? (?:(?:really|always|generally|usually|strongly|definitely|much|also|do|personally|typically) ){0,2}"
    r"prefer (?!(?:if|it if|not)\b)"
    r"(?:[^,.;:?!]|\.(?=\d)){3,140}"
    r"|\b[Ii]ch (?:bevorzuge|ziehe) (?:[^,.;:?!]|\.(?=\d)){3,100}"
)
GOES_ON = re.compile(r"\s(?:so|but|and (?:I|can|could|it|that|want|also)|can you|could you|how|which|what|aber|und ich|kannst du)\b")
"""Where something else begins after a preference."""
NO_VERBS = frozenset(
    [
        "been",
        "had",
        "has",
        "is",
        "was",
        "a",
        "the",
        "mind",
        "know",
        "again",
        "ever",
        "saw",
        "thought",
        "heard",
        "knew",
        "in",
        "on",
        "my",
        "i",
        "good",
        "nice",
        "great",
        "happy",
        "glad",
        "fun",
        "wanted",
        "more",
        "less",
        "too",
        "so",
    ]
)
WANTS = re.compile(
    r"\A(?:i(?:'d| would)? (?:always |generally )?(?:prefer|like|want) (?:(?:my|all|your|the) )?(?:short|long|brief|concise"
    r"|detailed|bullet|answers|replies|responses|explanations|"
    r"code examples|examples|recipes)\b"
    r"|when(?:ever)? (?:you|i) .{3,80}, (?:please )?(?:always |never |no |just |only |skip |put |tell |write |answer "
    r"|add |ask |stick |convert |leave |use |give |don't |keep |include |show |answer )"
    r"|for (?:all |any |every )?(?:code|recipes?|answers|units|dates|prices|examples|questions),? (?:please )?(?:always "
    r"|use |give |show |stick ))"
)
WITHDRAWS = re.compile(
    r"\b(?:you (?:can|may|could)(?: now)? .{1,80}\b(?:again|now|after all|if you (?:like|want))\b|it(?:'s| is) (?:ok(?:ay)?"
    r"|fine|alright|all right)(?: now)? (?:to|if you)\b"
    r"|(?:you )?(?:don't|do not) (?:have|need) to .{1,80}(?:any ?more|any longer|now)\b|no need (?:to"
    r"|for) .{1,80}(?:any ?more|any longer|now)\b"
    r"|you no longer (?:have|need) to\b|(?:forget|ignore|drop|scrap|disregard|cancel|undo|lift|skip) (?:the|my|that"
    r"|about the|about my) .{0,40}(?:rule|instruction|request|wish|thing|restriction|ban|preference)"
    r"|(?:forget|ignore|drop|scrap|disregard|cancel) what i said about .{0,60}(?:answers|replies|format|units|language|tone"
    r"|emojis?|bullet|suggest)"
    r"|stop (?:using|answering|replying|responding|writing|speaking|giving|adding|including|calling|converting|doing)\b"
    r"|(?:go|switch) back to\b|back to normal|(?:isn't|is not|no longer|not) needed\b|as (?:long|short|much) as you (?:like|want)"
    r"|never ?mind (?:the|my|about the|about my) .{0,60}|i(?:'ve)? changed my mind about"
    r"|du (?:kannst|darfst) .{0,80}\b(?:wieder|doch|jetzt)\b|du (?:musst|brauchst) .{0,60}(?:nicht mehr|nicht länger)"
    r"|(?:doch )?wieder .{0,60}(?:erlaubt|okay|in ordnung)"
    r"|(?:ist|sind) (?:jetzt |nun )?(?:doch )?wieder (?:okay|ok|in ordnung|erlaubt)|vergiss die (?:regel|anweisung)"
    r"|(?:antworte|schreib|sprich|nutze|verwende)\w* (?:bitte )?(?:doch )?wieder\b)"
)
JA_WITHDRAWS = re.compile(
    r"(?:ても|でも|て|で)(?:いい|良い|大丈夫|構わ|OK|ok|かまわ)|に戻して|なくて(?:いい|も|大丈夫)|はもう(?:いい|不要|やめ)"
    r"|やめて(?:いい|ください|大丈夫)|解除|戻してください"
)

ERASE = re.compile(r"(?:just |bitte )?(?:erase|wipe|scrub|unlearn)\b(?: bitte| please)?[ ,:]*")
OF_LIFE = re.compile(
    r"(?:the|my|our|that|what|all|everything|any|about)\b(?! (?:above|following|last|first|whole|screen|board|counter"
    r"|table|floor|drive|disk)\b)"
)
POINTS = re.compile(
    r"(?:(?:and |so |then )?(?:just |bitte )?(?:(?P<strong>erase|wipe|scrub|unlearn|delete|remove|lösche?|streiche?"
    r"|entferne)|forget|vergiss|drop|take|nimm|get rid of|clear)\b"
    r"(?: bitte| please)? (?:it|that|this|them|those|all(?: of)? (?:it|that|this)|das alles|das|es|die sache|alles davon)"
    r"(?: (?:bit|part|one|detail|stuff|thing|info|information|fact|again|please|bitte|wieder|now|completely|entirely"
    r"|for good|out|raus|okay|ok|for me|thanks|danke|then|too"
    r"|as well|alles|komplett|ganz|schnell|weg)){0,4}(?P<memory> (?:from|out of|in) (?:your|the) (?:memory|memories"
    r"|notes|records|storage|history)| aus de(?:inem|m) (?:gedächtnis|speicher))?"
    r"(?:,? (?:again|please|bitte|wieder|now|ok|okay|thanks|danke|for me|would you|will you))?(?:,.{0,80})?)\Z"
)
"""A request that says what is meant by a pronoun alone."""
TELLING = re.compile(
    r"\b(?:told|tell|said|mentioned|shared|share|wrote|remember|memory|private|secret|personal|confidential"
    r"|shouldn't have|should not have|wasn't (?:supposed|allowed)|not supposed"
    r"|to myself|sitting in there|stored|saved|noted|keep(?:ing)? (?:it|that) quiet|you know|you have|on file|erzählt"
    r"|gesagt|gespeichert|privat\w*|geheim|weißt|gemerkt|persönlich\w*|geschrieben"
    r"|vertraulich|verraten)\b"
)
THAT_THING = re.compile(
    r"\b(?:das mit|die sache mit|die geschichte mit|that thing about|the thing about|told you about|mentioned|shared"
    r"|about) (?P<topic>(?:de[rmn] |dem |the |my |our )?[\w'-]+(?: [\w'-]+){0,2})"
)
TOPIC_FIRST = re.compile(
    r"(?:das mit|die sache mit|die geschichte mit|was ich (?:dir )?über) (?P<topic>.{3,60}?) (?:gesagt hab\w* "
    r"|erzählt hab\w* )?(?:nimm|streich|lösch|vergiss|kannst du|könntest du|bitte)\b"
    r".{0,40}(?:raus|lösch\w*|streich\w*|vergess\w*|vergiss\w*|weg|wieder)"
)
JA_TELLING = re.compile(r"言っ|話し|教え|伝え|書い|内緒|秘密|個人的|プライベート|しまい|しまっ")
NO_MORE = re.compile(
    r"(?:nie (?:wieder|mehr)|nur noch|keine?n? .{1,30} (?:mehr )?in deinen? antworten|no more .{2,40}"
    r"|not bring(?:ing)? up|not (?:mention|talk about|ask|suggest|recommend|use|comment on|call)\b"
    r"|stop (?:comment|mention|ask|call|suggest|remind|recommend|us|bring|say|start|end|apolog|lectur|talk)ing\b"
    r"|keep .{2,60}(?:under|below|to|within|short|brief)\b.{0,40}|leave out .{2,40}|skip .{2,40} (?:in|when|from"
    r"|every)\b.{0,40})"
)
WITHOUT = re.compile(
    r"(?:i'd rather (?:you didn't|not (?:talk|hear|be reminded))|i (?:really )?(?:don't|do not) (?:want"
    r"|like) (?:you to (?:bring|mention|talk|ask|suggest|use)|to (?:talk|hear|be reminded|be asked)) .{2,80}"
    r"|let's not (?:talk|bring|mention|discuss) .{2,60}|(?:would|do) you mind not .{4,80}|ich (?:will|möchte) (?:nicht"
    r"|nichts) (?:mehr )?(?:über|von|mehr von) .{3,60}"
    r"|can we (?:please )?not (?:talk|discuss|mention|bring) .{2,60}|.{2,60} (?:is|are) off[- ]limits|(?:please )?steer clear of .{2,60}"
    r"|(?:please )?avoid (?:the (?:topic|subject)|mentioning|talking|bringing|any mention) .{2,60}"
    r"|i (?:really )?(?:don't|do not) want to hear .{2,60}|(?:please )?no mention of .{2,60}"
    r"|(?:please )?leave .{2,40} out of (?:it|this|our chats)|(?:bitte )?sprich mich (?:bitte )?nicht .{2,60}"
    r"|über .{2,40} (?:will|möchte|mag) ich (?:bitte )?nicht(?:s)? .{2,30}"
    r"|.{2,50} ist (?:ab jetzt |bitte )?tabu|(?:bitte )?lass .{2,40} aus dem spiel"
    r"|(?:bitte )?fang (?:bitte )?nicht .{2,40} an|(?:bitte )?kein wort (?:mehr )?(?:über|von) .{2,40}"
    r"|(?:bitte )?komm mir nicht .{2,40}"
    r"|(?:please )?(?:treat|talk to|speak to|address|think of) me (?:like|as|in|with)\b.{2,60}"
    r"|(?:please )?(?:just )?be (?:more )?(?:brief|concise|direct|blunt|formal|informal|casual|honest)"
    r" (?:with|to) me\b.{0,40}|(?:please )?assume (?:that )?i(?:'m| am| know| have| don't| can)\b.{2,80}"
    r"|i(?:'d| would)? (?:want|need|like|prefer) (?:all |all of )?(?:your |my |the )?(?:answers|replies|responses"
    r"|explanations|summaries|recipes|measurements|units|prices|code|examples|temperatures"
    r"|distances|dates|times) .{2,60}"
    r"|(?:bitte )?lass (?:bitte )?das thema .{2,60}|(?:bitte )?kein (?:wort|thema) .{2,60}|(?:bitte )?erwähn\w* .{2,60} nicht(?: mehr)?)"
)
PRETEND = re.compile(
    r"(?:pretend|act (?:like|as if)|let's pretend|tu so,? als) (?:that )?(?:i|hätte ich) (?:never|didn't|hadn't|nie"
    r"|nichts) (?:ever )?(?:told|tell|said|say|mentioned|mention|brought up"
    r"|bring up|shared|share|von|über)(?: you)?(?: anything)?(?: about| that)? ?(?P<topic>.{2,80}?)(?: erzählt| gesagt)?\Z"
)
NOT_KEPT = re.compile(
    r"(?:do not|don't|stop|no need to|you (?:don't|do not) (?:need|have) to|behalte?|merke?"
    r"|speichere?) (?:dir )?(?:keep|keeping|remember|remembering|store|storing|save|saving|hold on to|know)? ?"
    r"(?P<topic>(?:what i|the fact|my|that (?:i|my|we)|anything|everything|our|das mit|mein\w*"
    r"|unser\w*) .{2,80}?)(?: (?:any ?more|any longer|please|bitte|nicht(?: mehr)?))*\Z"
)
SCRATCHED = re.compile(
    r"(?:scratch|strike|redact|disregard|ignore|take back) (?:what(?:ever)?|everything|anything) i(?:'ve)? (?:said"
    r"|told you|mentioned|shared)(?: earlier| before| yesterday)? about (?P<topic>.{2,80})\Z"
)
GONE = re.compile(
    r"(?:i(?:'d)? (?:want|need|like|would like)(?: you)? (?:to have )?)?(?P<topic>(?:my|the|everything|anything|all"
    r"|what i) .{2,80}?) (?:gone|deleted|removed|erased|wiped|forgotten|out) "
    r"?(?:of |from )(?:your|the) (?:memory|notes|records|files|system|history)\Z"
)
PERSONAL = re.compile(
    r"(?:the |my |our |mein\w{0,2} |unser\w{0,3} |die |den |das ).{0,40}\b\w{0,20}(?:address|phone|number|salary|birthday"
    r"|birth date|diagnosis|health|medical|illness|disease|pregnancy|miscarriage|divorce"
    r"|ex|debt|income|password|pin|weight|therapy|therapist|medication|religion|affair|breakup|surgery|depression"
    r"|anxiety|bank|iban|account number|credit card|passport|adresse|nummer|gehalt"
    r"|geburtstag|diagnose|krankheit|schwangerschaft|scheidung|schulden|einkommen|passwort|gewicht|therapie"
    r"|medikamente|affäre|trennung|konto\w*|iban)\b"
)
NAMED = re.compile(r"\b(?:[Ff]orget|[Vv]ergiss)(?: bitte)?(?: about)? (?P<topic>(?!I\b)[A-ZÄÖÜ][\w-]+)(?: please| bitte)?[.!]*\Z")
MAY_FORGET = re.compile(
    r"\b(?:forget|delete|deleted|remove|removed|erase|erased|wipe|wiped|scrub|purge|get rid of|take (?:it|that|this"
    r"|them|what \w+ \w+) (?:out|off|down)|strike|unlearn|gone"
    r"|vergiss|vergessen|vergisst|lösch\w*|gelöscht|streich\w*|gestrichen|entfern\w*|nimm .{1,40} raus|rausnehmen|verschwinde\w*)\b"
)
"""Words by which something may be asked to be forgotten."""
IS_TOLD = re.compile(
    r"\b(?:told|tell|said|mentioned|shared|sharing|you know|you remember|memory|memories|your notes|your records"
    r"|you have on|stored|saved|noted|on file|about me|about my|private|personal"
    r"|shouldn't have|to myself|keep (?:it|that)|from before|earlier|the other day|last time"
    r"|erzählt|gesagt|geschrieben|erwähnt|weißt|gemerkt|gespeichert|gedächtnis|notiert|über mich|über meine?n?"
    r"|privat\w*|neulich|vorhin|verraten|anvertraut)\b"
)
NOT_ASKED = re.compile(
    r"\b(?:i|we|he|she|they|people|ich|wir|er|sie|man) (?:\w+ ){0,3}(?:forget|forgot|forgotten|forgets|delete|deleted"
    r"|remove|removed|vergess\w*|gelöscht)\b"
    r"|\b(?:don't|do not|never|not|won't|can't|cannot|couldn't|almost|nearly|nicht|nie|fast"
    r"|beinahe) (?:\w+ ){0,2}(?:forget|delete|remove|vergess\w*|vergiss|lösch\w*)\b"
    r"|\bhow (?:do|can|to|would|does|did)\b|\bwie (?:kann|lösch|entfern|vergiss|vergess|mach)\w*\b|\b(?:forgot"
    r"|forgotten|forgetting|forgetful|unforgettable|vergesslich)\b"
    r"|\bforget (?:it|about it)\b(?!.*\btold\b)|\bvergiss es\b|\bgone (?:to|on|for|out|through|well|bad)\b"
    r"|\bhabe?\b.{0,60}\b(?:vergessen|gelöscht|gestrichen|entfernt)\b"
)
"""Words by which the same are said of other things."""
WHAT_ABOUT = re.compile(
    r"\b(?:about|regarding|concerning|über|zum thema|bezüglich|das mit|die sache mit|the .{2,20} with) (?P<topic>.{2,80}?)(?:[,.;:!?]|\Z)"
)
TO_GO = re.compile(
    r"(?:alles|was|das|die infos?)?,? ?(?:was )?(?:ich |du )?(?:dir )?(?:über|zu|von"
    r"|mit) (?P<topic>.{2,50}?) (?:gesagt hab\w*|erzählt hab\w*|weißt|gespeichert hast)?,? ?(?:kann|soll|muss|darf) "
    r"(?:bitte |wieder |jetzt )*(?:weg|raus|gelöscht werden|verschwinden|vergessen werden)\Z"
)
