# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""How people say in English who they are, where they live, what they do and study, and how they are reached."""

from __future__ import annotations

from typing import Final

from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots_en_words import AGE_CUES, AGE_WORDS, say

_BEHIND_WORKPLACE: Final = "(?:and|or|but|because|since|so|when|while|as|if|that|which|who|where|for|with|at|on|in|to|near|now|these|this|last|i|we|is|are|was)"
_WHOLE_WORKPLACE: Final = rf"(?![\w'-]| (?!{_BEHIND_WORKPLACE}\b)[\w&])"
_JOINED: Final = rf"(?-i:[A-ZÀ-Þ])[\w'-]* and (?-i:[A-ZÀ-Þ][a-z])[\w'-]*(?: (?-i:[A-ZÀ-Þ])[\w'-]*)*{_WHOLE_WORKPLACE}(?! (?:is|are|was)\b)"
"""A name that an "and" joins to another; what a verb follows begins another clause."""
_WORKPLACE: Final = (
    r"(?P<value>(?:a|an|the) (?!(?:bit|while|moment|same|time|most|living|weekend|minute|day|whole|good|slow|steady|first|future|best|next|fast|computer"
    r"|desk|past|night|evening|morning|afternoon|long|lot|new|sake|project|team|other|end|back|gym|money|love|pleasure|rest)\b)"
    rf"(?:{_JOINED}|[a-z][\w'-]*)(?: (?!{_BEHIND_WORKPLACE}\b)(?:{_JOINED}|(?:& )?[\w'-]+)){{0,5}}){_WHOLE_WORKPLACE}"
)
_BEEN_IN_NOW: Final = (
    r"been (?:living )?in (?!(?:lockdown|quarantine|isolation|hospital|rehab|therapy|recovery|remission|mourning|plaster|covid)\b)"
    r"<PLACE>,? (?:for )?(?:\w+|a few|nearly \w+|about \w+|over \w+) (?:years?|months?) now\b"
)
_MOVED: Final = r"(?:moved|relocated)(?: (?:house|home|flats?|apartments?|again|at last|last (?:week|month|year|spring|summer|autumn|winter|\w+day)|yesterday|this (?:week|month|year)))*"
_OF_NO_HOME: Final = (
    r"(?:i'm|i am|we're|we are|it's|it is|now|easter|christmas|xmas|diwali|eid|ramadan|hanukkah|halloween|thanksgiving|new year|spring|summer|autumn|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|finance|sales|marketing|hr|it|legal|accounts|accounting|operations|ops|engineering|support|logistics|research|product|payroll|procurement|compliance|admin)\b"
)
"""What a capital begins that is no place: days, feasts, and departments that somebody moves to."""
_ANEW: Final = rf"(?:(?:and |so )?(?:it's|it is|home's|home is|this time to|now in|now at|now it's|living in|(?:i'm|i am|we're|we are|i live|we live)(?: now| both)? in) (?=[\w' ,-]{{2,60}}?(?:[.,;!]|$| (?:now|these days|this time|from now on|since|for|and|with|it is)\b))|(?=[\w' -]{{2,40}}? (?:it is|now|for us|for me)\b))(?!{_OF_NO_HOME})<PLACE>(?! (?:who|that|which)\b| now for\b)"
"""Where somebody lives who has just said that they moved: "it's Leith now"."""
_HOUSING: Final = r"(?:flat|apartment|house|home|studio|place|flatshare|bungalow|cottage)"
_OUR_HOUSING: Final = (
    r"(?:my|our)(?: (?!(?:old|first|last|former|previous|next|second|other|holiday|summer|winter|weekend|beach|country|dream|future|rental|investment|family|childhood|spare|empty|favou?rite|guest|late)\b)[\w-]+)?"
    rf" {_HOUSING} in <PLACE>"
    r"(?![^.!;]*\b(?:was|were|had|used to|sold|sale|selling|sell|market|let out|rented out|rent it|tenants?|lodgers?|airbnb|falls? through|fell through|if|until|growing up|back then|ages ago|years ago|empty)\b)"
    r"(?=[.,;!]|$| (?:has|have|is|are|gets?|got|needs?|feels?|looks?|smells?|leaks?|keeps?|still|again|costs?|just|floods?|broke|and|with|now|\w+s)\b)"
)
"""A home that its speaker speaks of as theirs, and has not left, let or sold."""
_STAYING_ON: Final = (
    r"(?!.*\b(?:visit\w*|week-?end|holidays?|vacation|trip|layover|conference|meetings?|wedding|funeral|until|till|tomorrow|tonight|briefly"
    r"|hotel|airbnb|fly|flying|flight|leav(?:e|ing) again|for (?:work|business|christmas|easter|thanksgiving|an? \w+|(?:a few|a couple of|two|three|\d+) (?:days|nights|weeks))"
    r"|to (?:see|visit|pick|get|help|sort)|this week|today|on \w+day)\b)"
)
"""Says nothing of a journey, or of a stay that is to end."""
_BACK_IN: Final = (
    rf"in (?!(?-i:[A-Z]{{2,3}}\b)|the (?!hague|netherlands|uk|us|usa|states|philippines)\b){_STAYING_ON}<PLACE>"
)
"""Where somebody is back; "back in IT" is no place."""
_FOR_GOOD: Final = r"(?: now| again| since| for good| at last| permanently| once (?:more|again))\b"
_FIRED: Final = r"(?:fired|sacked|laid off|let go|made redundant|dismissed)"

NAMING: Final = (
    say("name", r"my (?:full |real |first |legal )?name(?:'s| is)(?: now| actually)? <PERSON>", "name name's"),
    say("name", r"(?:hi|hello|hey)[^.!?]{0,20}?[,!.]? i(?:'m| am) <PERSON>(?=[.,!]|$| and | from )", "hi hello hey"),
    say("name", r"<I> changed my (?:\w+ )?name(?: from <ANYONE>)? to <PERSON>", "changed", begins=True),
    say("name", r"i took (?:my (?:husband|wife|partner)'s|his|her) (?:sur)?name,? (?:so )?i'm <PERSON>", "took", begins=True),
    say("nickname", r"(?:i(?:'ve| have)? (?:(?:now|mostly|usually|also) )?(?:go|went|gone) by(?: the name)?|(?:everyone|everybody|people|(?:my |all my )?(?:friends|family|mates|colleagues)) (?:all |just |usually )?calls? me|my (?:nickname|nick) is|you can call me|they call me) <PERSON>", "go by calls call nickname nick"),
    say("nickname", r"(?:i (?:don't|do not|no longer) go by|(?:nobody|no one|don't) calls? me) <PERSON>", "go calls", act=SlotAct.ENDS),
    say("age", r"i(?:'m| am)(?: (?:currently|now|only|already|just))* (?P<value>\d{1,3})(?: years? old| y/?o\b|(?=[.,!]|$| and ))", "i'm am"),
    say("age", rf"i(?:'m| am)(?: (?:currently|now|only|already|just))* (?P<value>{AGE_WORDS})(?: years? old|(?=[.,!]|$| and ))", AGE_CUES),
    say("age", r"i(?:'ve| have)?(?: (?:just|recently|finally))? turned (?P<value>\d{1,3})(?! ?(?:%|:|degrees|km|miles))\b", "turned"),
    say("age", r"^(?:just |finally )?turned (?P<value>[1-9]\d)(?=[.!]|$| (?:last (?:week|month|year|\w+day)|this (?:week|month|year|\w+day)|yesterday|today|on \w+day|in (?!(?:the|an?|my)\b)\w+)\b)", "turned", headless=True),
    say("birthday", r"my birthday(?:'s| is)(?: on)? <DATE>", "birthday birthday's"),
    say("birthday", r"i was born (?:on|in) <DATE>", "born"),
    say("blood_type", r"(?:put down that |note that )?(?:<AM> |my )blood (?:type|group)(?:'s| is|:)? (?P<value>(?:ab|a|b|o|0)(?: ?[+-]| (?:positive|negative|pos|neg)\b))", "blood"),
)  # fmt: skip

LIVING: Final = (
    say("city", r"<I>(?: live| lived| reside)(?: (?:now|currently|just|right|happily|alone|together))?(?: just)? (?:in|near|outside(?: of)?)(?: (?:the (?:city|town|village|suburbs|outskirts|centre|center) of|downtown|central|(?-i:north|south|east|west)))? <PLACE>(?! (?:university|street|road|avenue|lane)\b)", "live reside"),
    say("city", r"(?:i|we)(?:'ve| have) (?:always |only |both )?(?:lived|been living|been based|been renting|been) in <PLACE>(?=,? (?:well|since|for (?:\w+ ){1,2}(?:years?|months?|weeks?)|all (?:my|our) li(?:fe|ves)|\d+ years)\b)", "since for all years"),
    say("city", r"been (?:living )?in <PLACE>(?=,? (?:since|for (?:\w+ ){1,2}(?:years?|months?)|all my life)\b)", "been", headless=True),
    say("city", rf"(?:i|we)(?:'ve| have) {_BEEN_IN_NOW}", "been"),
    say("city", _BEEN_IN_NOW, "been", headless=True),
    say("city", r"^working from home in <PLACE>(?=[.,;!]|$| (?:these days|now|mostly|since)\b)", "working", headless=True),
    say("city", r"^moved (?:back )?to (?!plan\b)<PLACE>(?=,? (?:last (?:\w+)|this (?:week|month|year|spring|summer|autumn|winter)|yesterday|(?:an?|two|three|a few|\d) (?:days?|weeks?|months?|years?) ago)\b)", "moved", begins=True, headless=True),
    say("city", r"<AM>(?: (?:based|living|renting|settled|located|staying))(?: (?:out|right|now|just|temporarily))?(?: (?:a|an|the|my)(?: [\w-]+){1,3}?)?(?: just)? (?:in|near|outside(?: of)?) <PLACE>", "based living renting settled located staying"),
    say("city", r"<BEEN> (?:based|living|renting|settled)(?: (?:a|an|the|my)(?: [\w-]+){1,3}?)? in <PLACE>", "based living renting settled"),
    say("city", r"<I>(?: rent| own| bought| have)(?: (?:a|an|the|our|my)(?: [\w-]+){0,2}? (?:flat|apartment|house|home|studio|room|place|condo|cottage|bungalow|bedsit)) in <PLACE>,? (?:where (?:i|we) live|and (?:i|we) live there)", "live"),
    say("city", r"(?:my|our) (?:flat|apartment|house|home|studio|place)(?:'s| is)(?: now)? in <PLACE>", "flat flat's apartment house home home's studio place"),
    say("city", r"home(?:'s| is| for (?:me|us) is)(?: now| currently)?(?: in)? <PLACE>(?=[.,;!]|$| (?:and|now|these|since|for)\b)", "home home's", begins=True),
    say("city", r"i call <PLACE> (?:my )?home", "home"),
    say("city", r"<PLACE>'s where i (?:live|hang my hat|call home)", "where"),
    say("city", r"(?:it's |it is )?<PLACE> for (?:us|me) (?:since|from|as of) ", "us me", begins=True),
    say("city", r"<I>(?: (?:moved|relocated|emigrated|resettled|migrated|shifted))(?: (?:back|over|out|up|down|house|home|here))?(?: from <ANYWHERE>)? to <PLACE>", "moved relocated emigrated resettled migrated shifted", begins=True),
    say("city", r"as of (?:now|today|yesterday|this \w+),? (?:i'm|we're|i am|we are) in <PLACE>", "as", begins=True),
    say("city", r"living in <PLACE>(?=[.,;!]|$)", "living"),
    say("city", r"(?:the|my) (?:city|town|place|village|neighbou?rhood) (?:that )?(?:i|we) live in(?:'s| is)(?: called)? <PLACE>", "live"),
    say("city", r"<I>(?: came| went| got)(?: right)? back to <PLACE> for good", "back", begins=True),
    say("city", rf"<AM> back (?:home )?{_BACK_IN}(?=[.,;!…]|$|{_FOR_GOOD}| (?:after|and|where|as of)\b| [-–—])", "back", begins=True),
    say("city", rf"back {_BACK_IN}(?=,?{_FOR_GOOD})", "back", begins=True, headless=True),
    say("city", rf"(?:moved )?back home {_BACK_IN}(?=[.!…]|$|{_FOR_GOOD})", "back", begins=True, headless=True),
    say("city", rf"^(?:just |finally |now |so )*moved back (?:home )?to {_STAYING_ON}<PLACE>(?=[.,;!…]|$|{_FOR_GOOD}| (?:after|and)\b)", "moved", begins=True, headless=True),
    say("city", rf"<I> (?:ended|wound) up (?:(?:moving|going|coming) )?back (?:in|to) {_STAYING_ON}<PLACE>(?=[.,;!…]|$|{_FOR_GOOD}| (?:after|and)\b)", "ended wound", begins=True),
    say("city", r"<I>(?: took| rented| found| got)(?: (?:a|an|the|our|my))(?: [\w-]+){0,2}? (?:place|flat|apartment|room|house|studio) in <PLACE>(?=[.,;!]|$)", "took rented found got", begins=True),
    say("city", r"(?:i|we)(?:'ve| have) been (?:on|in|at) (?:the|this) same [\w ]{3,20} in <PLACE> (?:since|for|all)\b", "same"),
    say("city", r"<I>(?: settled)(?: (?:down|back))? in <PLACE>", "settled", begins=True),
    say("city", r"(?:finally |just |now )?settled(?: down| back)? in <PLACE>(?=[.,;!]|$| (?:at last|now|for good|since|with|and|this|last)\b)", "settled", begins=True, headless=True),
    say("city", r"^(?:so |now |these days )?<PLACE> is (?:(?:my|our) )?(?:new )?home(?: now| these days)?(?=[.,;!]|$)", "home", begins=True),
    say("city", r"settled into (?:the|a|our|my)(?: [\w-]+){1,3}? in <PLACE>", "settled", begins=True),
    say("city", rf"<I> {_MOVED}(?:[,;:!.]| [-–—])* {_ANEW}", "moved relocated", begins=True),
    say("city", rf"(?:just |finally |recently )?{_MOVED}(?:[,;:!.]| [-–—])* {_ANEW}", "moved relocated", begins=True, headless=True),
    say("city", r"<I> (?:moved|relocated) (?:last (?:week|month|year|spring|summer|autumn|winter|\w+day)|yesterday|recently|this (?:week|month|year|spring|summer|autumn|winter)|in [a-z]+|on \w+day|again|house|home) to <PLACE>", "moved relocated", begins=True),
    say("city", rf"<I> moved (?:in|into|to) (?:(?:a|an|the|our|my)(?: [\w-]+){{0,2}}? {_HOUSING}) in <PLACE>", "moved", begins=True),
    say("city", r"<I> (?:upped|up) sticks (?:to|for) <PLACE>", "sticks", begins=True),
    say("city", _OUR_HOUSING, "my our", implied=True),
    say("city", rf"(?:there's|there is|(?:i|we)(?:'ve| have) (?:got )?|the|a|an) (?:[\w'-]+ ){{1,4}}?(?:at|in) {_OUR_HOUSING}", "my our", implied=True),
    say("city", r"we packed up and (?:are|moved)(?: now)?(?: in| to) <PLACE>", "packed", begins=True),
    say("city", r"(?:just |finally |recently )(?:moved|relocated)(?: back)?(?: from <ANYWHERE>)? to <PLACE>", "moved relocated", begins=True, headless=True),
    say("city", r"<I>(?: <NOT>| don't| do not| stopped)(?: live| living| reside) in <PLACE>", "live living reside", act=SlotAct.ENDS),
    say("city", r"<AM>(?: <NOT>| not)(?: (?:living|based))? in <PLACE>(?=[.,;!]|$| any ?more| any longer)", "longer anymore more not", act=SlotAct.ENDS),
    say("city", r"<I>(?: moved (?:out of|away from))(?: the [\w-]+ in)? <PLACE>", "moved", act=SlotAct.ENDS),
    say("city", r"(?:i|we) used to live in <PLACE>", "used", act=SlotAct.ENDS),
    say("origin", r"<AM> from <PLACE>(?! to\b)", "from"),
    say("origin", r"(?:i|we)(?: (?:grew up|was (?:born and )?raised|was born)) in <PLACE>", "grew raised born"),
    say("origin", r"(?:i(?:'m| am| was) |i(?:'m| am) (?:[\w'-]+ ){0,4}[\w'-]+, )born and (?:bred|raised) in <PLACE>", "born"),
    say("origin", r"^born and (?:bred|raised) in <PLACE>", "born", headless=True),
    say("origin", r"my home ?(?:country|town)(?: is|'s|,)? <PLACE>", "home hometown"),
    say("address", r"(?:i (?:now )?live at|<MY>(?: home| postal| mailing| street)? address(?:'s| is|:)(?: now)?|(?:parcels|post|deliveries|letters|mail) (?:go|goes|come|comes) to|(?:we|i)(?:'ve| have)? moved to) <STREET>", "live address address's parcels post deliveries letters mail moved"),
)  # fmt: skip

WORKING: Final = (
    say("employer", r"<I> work(?: (?:full[- ]time|part[- ]time|remotely|nights|days|freelance))? (?:at|for|with) <FIRM>(?! mother| father)", "work"),
    say("employer", r"^day (?:one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) at (?P<value>(?:the|my) (?:new )?(?:bakery|café|cafe|bookshop|shop|warehouse|law firm|firm|agency|factory|butcher's|florist's|call centre))(?=[.,;!]|$| and\b)", "day", begins=True, headless=True),
    say("employer", rf"<I> work(?: (?:full[- ]time|part[- ]time|nights|days))?(?: down)? (?:at|for|in) {_WORKPLACE}", "work"),
    say("employer", r"<AM> (?:working|employed)(?: (?:full[- ]time|part[- ]time|remotely|nights))? (?:at|for|by|with) <FIRM>", "working employed"),
    say("employer", rf"<AM> (?:working|employed)(?: (?:full[- ]time|part[- ]time|remotely|nights))? (?:at|for|by|in) {_WORKPLACE}", "working employed"),
    say("employer", r"(?:i|we)(?:'ve| have) (?:been (?:working |employed )?|worked )(?:at|for) <FIRM>(?=,? (?:since|for)\b)", "been worked"),
    say("employer", r"(?:\w+ )?(?:years?|months?) (?:at|with) <FIRM> and (?:i|still)\b", "years months", anywhere=True),
    say("employer", r"<I> (?:joined|switched to|started(?: working| a (?:new )?job| work| my (?:new )?job)? (?:at|with|for)|(?:got|took|have|landed) a (?:new )?job (?:at|with)|signed (?:on )?with|got hired (?:by|at)|was hired by) <FIRM>(?! (?:class|club|choir|team|gym|lessons?)\b)", "joined switched started job signed hired", begins=True),
    say("employer", r"^(?:just |finally |only just )?started (?:work |a new job |my new job )?(?:at|with) <FIRM>(?=[.,;!]|$| (?:as|on|this|last|yesterday|today|btw|and|in the)\b)(?! (?:class|club|choir|team|gym|lessons?|course)\b)", "started", begins=True, headless=True),
    say("employer", r"<I> (?:rejoined|(?:went|gone|came|come) back to work(?:ing)? (?:at|for|with)|(?:returned|went back|came back) to (?:my )?(?:old )?(?:job|post|desk|position|team) (?:at|with)|(?:was|got|have been) rehired (?:by|at)) <FIRM>", "rejoined back returned rehired", begins=True),
    say("employer", r"<AM>(?: now)? back (?:working )?at <FIRM>(?=[.,;!]|$| (?:as|now|since|and|after|full[- ]time|part[- ]time)\b)(?! (?:mum|mom|dad))", "back", begins=True),
    say("employer", r"(?:i|we)(?:'ve| have)? (?:changed jobs|switched jobs|changed employers?),? (?:and )?(?:i(?:'m| am) |now )?(?:now )?(?:at|with|to) <FIRM>", "jobs employer employers", begins=True),
    say("employer", r"i(?:'ve| have)?(?: (?:just|finally))? (?:got taken on|been taken on|been hired|got a position|started a new job) (?:at|by|with) <FIRM>", "taken hired position started", begins=True),
    say("employer", r"i (?:teach|tutor|lecture|coach|volunteer|intern|consult)(?: [a-z]+(?: [a-z]+)?)? (?:at|for) <FIRM>", "teach tutor lecture coach volunteer intern consult"),
    say("employer", r"(?:my|the) (?:new )?(?:job|employer|company|workplace)(?:'s| is)(?: now)?(?: at| with)? <FIRM>", "job job's employer company workplace"),
    say("employer", r"(?:today (?:is|was) )?my first (?:day|week|month) at <FIRM>", "first", begins=True),
    say("employer", r"first (?:day|week|month) at <FIRM>(?= (?:done|over|today|behind|went|was)|[!.])", "first", begins=True),
    say("job", r"<I> teach (?:year|grade|class|form) (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen)\b", "teach", says="teacher"),
    say("job", r"<I> nurse on (?:the|an?) (?:\w+ ){0,2}ward\b", "nurse", says="nurse"),
    say("job", r"i(?:'m| am)(?: (?:currently|now|still|actually|just|also|officially|by trade))* (?:an? |the (?:new )?)<JOB>(?! (?:of|at heart|myself|who|for (?:the|a) (?:day|night))|'s)", "i'm am"),
    say("job", r"i(?:'m| am)(?: (?:now|officially))? (?P<value>(?:(?:team|shift|project|senior|head|deputy|assistant|general|branch|store|night|product|tech) ){0,2}(?:lead|manager|director|supervisor|chef|headteacher|foreman|captain|editor))(?: now)?(?=[.,;!]|$)", "lead manager director supervisor chef headteacher foreman captain editor", begins=True),
    say("job", r"i(?:'m| am)(?: (?:currently|now|still|just))* (?:an? )(?P<value>[a-z-]+(?: [a-z-]+){0,2}) (?:by (?:trade|profession|training)|for a living)", "trade profession training living"),
    say("job", r"(?P<value>[a-z-]+(?: [a-z-]+){0,2}) by (?:trade|profession)(?=[.,;!]|$)", "trade profession"),
    say("job", r"(?:i|we)(?:'ve| have) been (?:an? )<JOB> (?:for|since)", "been"),
    say("job", r"(?:<I> work|<AM> working|<BEEN> working|i make my living|i earn my living) as (?:an? |the )?(?P<value>[a-z-]+(?: (?!(?:for|at|in|with|and|but|since|on|from|because)\b)[a-z-]+){0,3})(?=[.,;!?)]|$| (?:for|at|in|with|and|but|since|on|from|because)\b)", "as", begins=True),
    say("job", r"(?:my (?:day )?job is|what i do is|professionally i'm) (?:being )?(?:an? )<JOB>", "job do professionally"),
    say("job", r"an? <JOB>(?: who [\w' ]{1,30})?, that's (?:me|my job|what i am)", "that's"),
    say("job", r"i(?:'ve| have)?(?: (?:just|recently|finally))*(?: been| got| was| am)? (?:promoted to|been made|become|became|qualified as)(?: (?:an?|the))? <JOB>", "promoted made become became qualified", begins=True),
    say("job", r"they(?:'ve| have)? (?:just )?(?:promoted|made) me(?: to| into)?(?: (?:an?|the))? <JOB>", "promoted made", begins=True),
    say("job", r"(?:<AM>|<BEEN>|as of \w+ i'm|i(?:'ve| have)? (?:gone|went|turned)) (?P<value>self-employed|unemployed|freelance|freelancing|retired|part-time|between jobs|a freelancer|a stay-at-home (?:mum|mom|dad|parent)|on parental leave|on maternity leave)\b", "self-employed unemployed freelance freelancing retired part-time between freelancer stay-at-home leave", begins=True),
    say("job", r"freelance since (?:forever|\w+)", "freelance", says="freelance"),
    say("job", r"<I> retired(?=[.,;!]|$| (?:from|in|last|this|at|after|early|yesterday|today)\b)", "retired", says="retired", begins=True),
    say("employer", r"<I> (?:retired(?: from <FIRM>)?)(?=[.,;!]|$| (?:in|last|this|at|after|early|yesterday|today)\b)", "retired", act=SlotAct.ENDS),
    say("employer", r"<I> (?:quit|left|resigned from|walked out of|gave up|lost)(?: (?:my|the) (?:old )?(?:job|position|post|role)(?: (?:at|with) <FIRM>)?)(?=[.,;!]|$| (?:last|this|in|on|after|today|yesterday|two|three|a|and|because|so|to|at|for)\b)", "quit left resigned walked gave lost", act=SlotAct.ENDS),
    say("employer", r"<I> (?:quit|resigned from|stopped working (?:at|for)|finished at) <FIRM>", "quit resigned stopped finished", act=SlotAct.ENDS),
    say("employer", rf"<I> (?:resigned from|stopped working (?:at|for|in)) {_WORKPLACE}", "resigned stopped", act=SlotAct.ENDS),
    say("employer", r"<I> (?:quit|left) (?P<value>the (?:bank|shop|hotel|clinic|hospital|company|factory|firm|agency|restaurant|café|cafe|bakery|council|library|museum|army|police))(?=[.,;!]|$| (?:last|this|for|in|after|because|and)\b)(?! at| by)", "quit left", act=SlotAct.ENDS),
    say("employer", r"<I> (?:quit|resigned)(?: (?:today|yesterday|last \w+|this \w+|on \w+))?(?=[.!]|$)", "quit resigned", act=SlotAct.ENDS),
    say("employer", rf"(?:i(?:'ve| have)? (?:was|got|been)|they|my boss|the company)(?: just)? {_FIRED}(?: me)?(?: (?:by|from|at) <FIRM>)?(?=[.,;!]|$| (?:last|this|in|on|by|after|today|yesterday|because|and|over)\b)", "fired sacked laid let redundant dismissed", act=SlotAct.ENDS),
    say("employer", r"(?:they|my boss|the company)(?:'ve| have)?(?: just)? (?:fired|sacked|dismissed|laid) me\b", "fired sacked dismissed laid", act=SlotAct.ENDS),
    say("employer", r"(?:they|my boss|the company)(?:'ve| have)? let me go\b", "let", act=SlotAct.ENDS),
    say("employer", r"<I>(?: <NOT>| don't| do not) work (?:at|for|with) <FIRM>", "work", act=SlotAct.ENDS),
    say("employer", rf"<I>(?: <NOT>| don't| do not) work (?:at|for|in) {_WORKPLACE}", "work", act=SlotAct.ENDS),
    say("employer", r"<AM>(?: <NOT>) (?:working |employed )?(?:at|with|by) <FIRM>", "longer", act=SlotAct.ENDS),
    say("employer", r"quit (?:my job|today|yesterday)(?=[.,;!]|$)", "quit", act=SlotAct.ENDS),
    say("employer", r"my last day at <FIRM> was\b", "last", act=SlotAct.ENDS),
    say("employer", r"(?:i|we) used to work (?:at|for) <FIRM>", "used", act=SlotAct.ENDS),
    say("employer", r"i (?:don't have|haven't got|have no|haven't) (?:a )?job(?: (?:any ?more|now|at present|at the moment|right now))", "job", act=SlotAct.ENDS),
    say("job", r"i(?:'m| am) (?:no longer|not) (?:an? )<JOB>(?=[.,;!]|$| any ?more)", "longer not", act=SlotAct.ENDS),
    say("job", r"i used to be (?:an? )<JOB>", "used", act=SlotAct.ENDS),
    say("job", r"i stopped being (?:an? )<JOB>", "stopped", act=SlotAct.ENDS),
)  # fmt: skip

STUDYING: Final = (
    say("school", r"<I> (?:study|go to school|go to college|go to uni)(?: [a-z]+){0,3} at <FIRM>", "study school college uni"),
    say("school", r"<AM> (?:studying(?: [a-z]+){0,3}|(?:a |an )?(?:[a-z-]+ ){0,2}(?:student|freshman|sophomore|senior|junior|undergrad)|doing (?:a|my) (?:[\w']+ )?(?:degree|phd|master's|masters|ma|ba|bsc|msc|mba|doctorate)(?: in [a-z]+(?: [a-z]+)?)?) at <FIRM>", "studying student freshman sophomore senior junior undergrad doing"),
    say("school", r"<I> (?:graduated from|got into|enrolled at|transferred to|was accepted (?:at|by|to)) <FIRM>", "graduated got enrolled transferred accepted", begins=True),
    say("studies", r"<I> (?:study|major in)(?! (?:at|in|for|hard|with|every|a lot|on)\b) (?P<value>[a-z]+(?: (?!(?:at|in|for|with|and|but|every|on|to|because|so|now|since)\b)[a-z]+){0,2})(?=[.,;!]|$| (?:at|in|now|and|since|but)\b)", "study major"),
    say("studies", r"<AM> (?:studying|majoring in|reading|doing (?:a|my) (?:degree|phd|master's|masters|ba|bsc|msc|doctorate)(?: at [A-Z]\w+)? (?:in|on))(?! (?:at|for|hard|with|every|a|the|this|that|on|my|your|about)\b) (?P<value>[a-z]+(?: (?!(?:at|in|for|with|and|but|every|on|to|because|so|now|since|of)\b)[a-z]+){0,2})(?=[.,;!]|$| (?:at|in|now|and|since|but|of)\b)", "studying majoring doing"),
    say("studies", r"<AM> an? (?:(?:first|second|third|final)[- ]year )?(?P<value>medical|law|nursing|linguistics|physics|maths|mathematics|biology|chemistry|engineering|architecture|history|philosophy|economics|psychology|business|computer science|art|music|literature|statistics|dental|drama) (?:student|undergrad|major)", "student undergrad major"),
    say("studies", r"(?:<I> )?(?:switched|changed)(?: my)?(?: majors?| courses?| degrees?| subjects?)?(?: from [a-z]+(?: [a-z]+)?)? to (?P<value>[a-z]+(?: [a-z]+)?)(?= (?:at uni|as my major|for my degree|this (?:term|semester))|,? (?:majors?|degree))", "switched changed", begins=True),
    say("studies", r"(?:i |we )?(?:switched|changed) (?:my )?(?:majors?|courses?|degrees?|subjects?)(?: from [a-z]+(?: [a-z]+)?)?(?:, (?:and )?i'm (?:now )?in| to) (?P<value>[a-z]+(?: [a-z]+)?)(?=[.,;!]|$)", "switched changed", begins=True),
    say("studies", r"(?:went to the \w+(?: \w+)? and )?switched from (?:[a-z]+(?: [a-z]+)?) to (?P<value>biology|statistics|law|nursing|medicine|physics|linguistics|maths|mathematics|engineering|history|philosophy|economics|psychology|chemistry|literature|computer science|architecture)\b", "switched", begins=True),
    say("studies", r"(?:i(?:'ve| have)? )(?:just )?(?:dropped out|graduated|quit (?:university|uni|college|school|my (?:studies|degree|phd|course))|finished (?:my|the) (?:degree|studies|phd|course|master's)|left (?:university|uni|college|school)|dropped (?:the|my) (?:course|degree|phd)|paused (?:the|my) (?:degree|studies|phd))\b", "dropped graduated quit finished left paused", act=SlotAct.ENDS),
    say("studies", r"they (?:expelled me|kicked me out of (?:university|uni|college|school))", "expelled kicked", act=SlotAct.ENDS),
    say("school", r"(?:i(?:'ve| have)? )(?:dropped out of|left) <FIRM>,? (?:university|uni|college|school)?", "dropped", act=SlotAct.ENDS),
)  # fmt: skip

REACHING: Final = (
    say("phone_number", r"(?:<MY>(?: (?:phone|mobile|cell|cellphone|telephone))?(?: (?:number|phone|mobile|cell))(?: for [\w ]{1,20}?)?(?:'s| is|:)(?: now)?|(?:mobile|phone|cell)(?:'s| is|:)|(?:you can |please )?(?:reach|call|text|ring|phone) me (?:on|at)|new (?:phone |mobile )?number:?|<MY> number (?:has )?changed to) <NUMBER>", "number phone mobile mobile's cell reach call text ring number's"),
    say("address", r"(?:please )?(?:send|ship|post|deliver) (?:the |any |my |all )?(?:parcels?|packages?|mail|post|letters?|it|them|everything) to <STREET>, that's (?:us|me|mine|where (?:i|we) live)", "send ship post deliver"),
    say("e-mail", r"(?:<MY> (?:\w+ )?(?:e-?)?mail(?: address)?(?:'s|:| is| has moved(?: over)? to| moved to| changed to)(?: now)?|(?:you can |please )?(?:e-?mail|write(?: to)?|reach|mail) me (?:at|on)|new e-?mail(?: address)?(?:'s|:| is)?) <MAIL>", "@"),
    say("e-mail", r"(?:<I> )?(?:changed|switched|got)(?: my| a new| the)? e-?mails?(?: address(?:es)?)?[,;:]? (?:and |so )?(?:(?:it's|it is|(?:the )?new one(?:'s| is)|i'm|now)(?: now)?(?: at)?:?) <MAIL>", "@", begins=True, headless=True),
    say("phone_number", r"(?:just |finally )?(?:changed|switched)(?: my)?(?: (?:phone|mobile|cell))? numbers?[,;:]? (?:and |so )?(?:it's|it is|(?:the )?new one(?:'s| is))(?: now)? <NUMBER>", "changed switched", begins=True, headless=True),
    say("phone_number", r"new (?:(?:phone|mobile|cell|cellphone|telephone|contact|whatsapp|work) )*(?:number|no|phone|mobile|cell|cellphone|tel)(?:'s| is|\.?:|,| -)? (?!\d+\.\d{2}\b)<NUMBER>", "new", begins=True, headless=True),
    say("phone_number", r"<I> (?:changed|switched|got)(?: my| a new)?(?: (?:phone|mobile|cell))? numbers?[,;:]? (?:and |so )?(?:it's|it is|the new one(?:'s| is))(?: now)? <NUMBER>", "changed switched got", begins=True),
    say("phone_number", r"<MY>(?: (?:old|phone|mobile))* number,? <NUMBER>,? (?:is (?:dead|gone|disconnected|cancelled|no longer mine)|no longer works|doesn't work any ?more)", "number", act=SlotAct.ENDS),
    say("phone_number", r"(?:don't use|forget|delete) (?:my )?(?:old )?(?:number )?<NUMBER>", "use forget delete", act=SlotAct.ENDS),
)  # fmt: skip
