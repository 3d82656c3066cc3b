# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""How people say in English who is theirs, and what: family and friends, pets, cars and phones."""

from __future__ import annotations

from typing import Final

from mnemic.core.parts import MONTHS
from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots_en_words import CALLED, PETS, RELATIONS, say

_CALLED: Final = tuple(CALLED.items())
_APART: Final = r"(?:(?:have |'ve )?(?:just |finally |recently )?(?:broke up|broken up|split up|split|separated|divorced|parted ways|called it quits|ended (?:it|things))|(?:got|are getting|are|were) divorced|are (?:no longer together|no longer a couple|separated)|(?:aren't|are not) (?:together|an item|a couple)(?: any ?more)?)(?=[.,;!]|$| (?:last|this|in|on|yesterday|today|for|after|a|two|three|and|because|so|any)\b)"

_WHEN: Final = rf"(?:(?:earlier )?(?:last|this) \w+|yesterday|today|suddenly|on (?:\w+day|{'|'.join(MONTHS)})(?: \d+)?|in (?:early |late )?(?:{'|'.join(MONTHS)}|\d{{4}}|(?:the )?(?:spring|summer|autumn|fall|winter))(?: \d{{4}})?|(?:an? |\w+ )(?:days?|weeks?|months?|years?) ago)\b"
_DIED: Final = rf"(?:(?:(?:has |have |'s |'ve )?(?:sadly |suddenly |just |finally |peacefully )?(?:died|passed away|passed on(?= {_WHEN}(?!')|[.,;!]|$))(?! (?:laughing|of (?:laughter|embarrassment|shame|boredom)|on (?:stage|screen|me)|inside|a little|twice|again|in (?:the|a) (?:film|book|novel|game|show|series|episode|movie|play))\b)|(?:is|are) (?:dead(?=(?: now)?(?:[.,;!:]|$| (?:and|since|because)\b))|no longer with us)|was put (?:down|to sleep))(?!\w))"
_LATELY: Final = rf"(?=(?: suddenly)? to (?:cancer|old age|an? )|(?: {_WHEN}){{0,2}}(?:[.,;!:]|$| (?:and|but|so|because|after)\b))(?!.*\b(?:found|find|finding|luckily|fortunately|again|back|turned up)\b)"
"""Lost for good: of a cause of death, or with no more said than when, and nobody found again."""
_CUES_OF_DEATH: Final = "died passed dead longer sleep down"
_PLURAL: Final = "dog|cat|kitten|parrot|hamster|rabbit|horse|turtle|tortoise|snake|pup|guinea pig|budgie|ferret|gecko|lizard|goat|donkey|hedgehog|chinchilla"
_KIN: Final = rf"(?:(?:my|our) (?:\w+ )?(?:{RELATIONS}|parents|kids?|children|in-laws|granddaughter|grandson|grandkids|stepson|stepdaughter|brothers|sisters)|(?-i:(?!I\b)[A-Z][\w-]*))(?!['’\w])"
_TAKER: Final = (
    rf"(?:{_KIN}|(?:an?|the|some|another|her new|his new) (?:[\w-]+ ){{0,3}}(?:family|couple|home|friends?|neighbou?rs?|colleague|coworker"
    r"|charity|school|church|shelter|sanctuary|museum|library|club|hospice|farm|lady|man|woman|student|kid|stranger|cousin|owners?|people)"
    r"|(?:some )?(?:friends|family|relatives|neighbou?rs|charity)|someone(?: else)?|somebody(?: else)?|strangers|adoption|oxfam|goodwill)(?![\w'])"
)
_LENT: Final = (
    r"(?!.*\b(?:for (?:an?|the|this|repairs?|servicing|now)\b(?! shelter)|while (?:i|we)|repair\w*|fix\w*|until|temporarily|this week"
    r"|to (?:park|wash|clean|check|borrow)|at the weekend|during)\b)"
)
_GIVEN: Final = rf"(?:away\b|(?:back )?to {_TAKER}){_LENT}"
"""Given for good: away, or to somebody; to a garage or a valet, or for a while, it is only lent."""
_GAVE: Final = (
    r"(?:i|we)(?:'ve| have)? (?:just |finally |recently |sadly |reluctantly |actually )*"
    r"(?:(?:had|decided|ended up having|was forced|were forced|chose) to )?"
)
_TO_GIVE: Final = r"(?:give|gave|given|giving|pass(?:ed)?|hand(?:ed)?|leave|left|entrust(?:ed)?)"
_PET_NAMED: Final = r"(?:poor |dear |our |my |little |old )*<PERSON>"
_THE_OWNED: Final = (
    r"(?:the|my|our) (?:old |new |beloved |poor |dear |little |last )*"
    r"(?P<value>(?!(?:impression|idea|address|number|keys?|details|message|news|money|rest|same|whole|best|time|money|advice|back)\b)"
    r"(?-i:[A-Z0-9][\w-]*(?: [A-Z0-9][\w-]*){0,3}|[a-z]+(?: (?!(?:back|away|on|down|over|up|to|in|a)\b)[a-z]+)?))"
)
_GOT_AWAY: Final = r"(?:ran (?:off|away|out)|run (?:off|away)|flew (?:off|away|out)|flown (?:off|away)|got out|escaped|wandered off|went missing|disappeared|vanished)"
_NOT_BACK: Final = r"(?:(?:never|hasn't|has not|didn't|did not)(?: ever)? (?:come|came|return(?:ed)?|been seen)(?: back| home)?|(?:we )?never (?:saw|found) (?:him|her|it|them)(?: again)?)"
_FOUND: Final = r"(?!.*\b(?:(?<!never )(?<!not )(?<!n't )(?:come|came) (?:back|home)|(?<!never )found|turned up|returned|caught|is back|got (?:him|her|it) back)\b)"
"""Nothing behind says that who got away is back."""
_NAMES: Final = r"(?P<value>(?-i:(?!I\b)[A-Z][\w-]*(?:, [A-Z][\w-]*)*,? (?:and|&) (?!I\b)[A-Z][\w-]*))(?!\w)"

RELATING: Final = (
    say("", rf"(?:my|our) (?:dear |lovely |poor |late |older |younger |little |big |eldest )*<RELATION>,? <PERSON>,? {_DIED}", _CUES_OF_DEATH, words=_CALLED, act=SlotAct.ENDS),
    say("", rf"(?:my|our) (?:dear |lovely |poor |late |older |younger |little |big |eldest )*<RELATION> {_DIED}", _CUES_OF_DEATH, words=_CALLED, act=SlotAct.ENDS),
    say("", rf"(?:i|we)(?:'ve| have)? (?:just |sadly |recently )?lost (?:my|our) (?:dear |lovely |poor |older |younger |little |big )*<RELATION>{_LATELY}", "lost", words=_CALLED, act=SlotAct.ENDS),
    say("", rf"(?:poor |dear |our |my |little |old )*<PERSON> {_DIED}", _CUES_OF_DEATH, act=SlotAct.ENDS, among="living"),
    say("", rf"(?:i|we)(?:'ve| have)? (?:just |sadly |recently )?lost (?:poor |dear |our |little |old )*<PERSON>{_LATELY}", "lost", act=SlotAct.ENDS, among="living"),
    say("", r"(?:i|we)(?:'ve| have)? (?:just |sadly |recently )?(?:had to )?(?:put (?:poor |dear |our |little |old )*<PERSON> (?:down|to sleep)|(?:say|said) goodbye to (?:poor |dear |our |little |old )*(?:<ANYONE>)(?= at the vet))", "put", act=SlotAct.ENDS, among="pet"),
    say("", rf"(?:poor |dear |our |little |old )*<PERSON> (?:has )?{_GOT_AWAY}\b[^.!;]{{0,60}}? (?:and|but) (?:(?:he|she|it) )?{_NOT_BACK}\b", "ran run flew flown got escaped wandered went disappeared vanished", act=SlotAct.ENDS, among="pet"),
    say("", rf"(?:poor |dear |our |little |old )*<PERSON> (?:has )?(?:flew|flown) (?:off|away)\b{_FOUND}", "flew flown", act=SlotAct.ENDS, among="pet"),
    say("", rf"(?:my|our|the) (?:\w+ )?(?P<value>{PETS}) (?:has )?(?:(?:flew|flown) (?:off|away)|{_GOT_AWAY}\b[^.!;]{{0,60}}? (?:and|but) (?:(?:he|she|it) )?{_NOT_BACK})\b{_FOUND}", "ran run flew flown got escaped wandered went disappeared vanished", act=SlotAct.ENDS, among="owned"),
    say("", rf"(?:poor |dear |our |little |old )*<PERSON> (?:ran away|has run away|has gone|is gone|found a new home|was rehomed){_FOUND}(?=[.,;!]|$| (?:last|this|in|on|yesterday|today|and)\b)", "ran run gone home rehomed", act=SlotAct.ENDS, among="pet"),
    say("", r"(?:i|we)(?:'ve| have)? (?:just |recently |sadly )?(?:rehomed|gave away|(?:had to|decided to) (?:rehome|give away|give up)) (?:poor |dear |our |little |old )*<PERSON>(?=[.,;!]|$| (?:last|this|in|on|yesterday|today|to)\b)", "rehomed rehome gave give", act=SlotAct.ENDS, among="pet"),
    say("", r"(?:my|our) (?:older |younger |little |big |eldest |twin |new |dear |lovely |ex-)?<RELATION>(?:,? |(?:'s name is |'s (?:now )?(?:called|named) |,? (?:whose name is|(?:is )?(?:now )?(?:called|named)) ))<PERSON>(?! and i\b|,? (?:(?:has |sadly |suddenly )*(?:died|passed away|passed on)|is dead|is no longer with us))", " ".join({r.split()[-1] for r in RELATIONS.split("|")}) + " " + " ".join(r.split()[-1] + "'s" for r in RELATIONS.split("|")), words=_CALLED, anywhere=True),
    say("", r"(?:my|our) (?:new |current )?<RELATION>(?:'s| is)(?: now)? <PERSON>(?=[.,;!]|$| (?:now|and|from)\b)", " ".join(r.split()[-1] for r in RELATIONS.split("|")) + " " + " ".join(r.split()[-1] + "'s" for r in RELATIONS.split("|")), words=_CALLED),
    say("", r"<PERSON>(?:'s| is)(?: now| officially)? (?:my|our) (?:new |older |younger |little |big )?<RELATION>(?=[.,;!]|$| (?:now|and|since)\b)", "my our", words=_CALLED),
    say("partner", r"(?:<AM> |i got |<I> )(?:married to|engaged to|dating|seeing|going out with|married|got engaged to|got married to) (?!(?:(?-i:[A-Z])\w+ )?in\b)<PERSON>(?=[.,;!]|$| (?:now|and|since|for|in|last|on|again|from)\b)", "married engaged dating seeing going", begins=True),
    say("partner", r"<PERSON> and i(?:'ve| have| are)? (?:just |finally |been |recently )*(?:got married|got engaged|married|engaged|dating|a couple|an item|together|tied the knot|(?:got |get |are )?back together|made up|reconciled|remarried)(?=[.,;!]|$| (?:now|and|since|for|in|last|on|again|a|\d|\w+ years)\b)", "married engaged dating couple item together knot made reconciled remarried", begins=True),
    say("partner", r"(?:<I> |<AM> )(?:(?:got|gotten|am|going|moved) )?back (?:together )?with <PERSON>(?=[.,;!]|$| (?:now|and|since|for|in|last|again)\b)", "back", begins=True),
    say("partner", r"me and <PERSON>(?: are|'ve| have)? (?:just |finally |recently )*(?:got married|got engaged|tied the knot|moved in together)(?=[.,;!]|$| (?:now|and|since|last|on|this)\b)", "me", begins=True),
    say("partner", r"<PERSON> and i are (?:now )?seeing each other", "seeing", begins=True),
    say("partner", r"it's over between <PERSON> and (?:me|i)\b", "over", act=SlotAct.ENDS),
    say("boss", r"(?:since [\w ]{1,20} )?(?:i|we) (?:now )?(?:answer|report) to <PERSON>(?=[.,;!]|$| (?:now|who)\b)", "answer report"),
    say("partner", rf"<PERSON> and i {_APART}", "broke broken split separated divorced parted quits ended longer together item couple", act=SlotAct.ENDS),
    say("partner", r"<I> (?:broke up with|split up with|divorced|dumped|separated from|left) (?:my (?:\w+ )?<ROMANCE>,? )<PERSON>", "broke split divorced dumped separated left", act=SlotAct.ENDS),
    say("partner", r"<I> (?:broke up with|split up with|divorced|dumped|separated from) <PERSON>", "broke split divorced dumped separated", act=SlotAct.ENDS),
    say("partner", r"<I> (?:broke up with|split up with|divorced|dumped|separated from|left) my (?:\w+ )?<ROMANCE>\b", "broke split divorced dumped separated left", act=SlotAct.ENDS),
    say("partner", rf"(?:my (?:\w+ )?<ROMANCE> and i|me and my <ROMANCE>|we) {_APART}", "broke broken split separated divorced parted quits ended longer together item couple", act=SlotAct.ENDS),
    say("partner", r"my <ROMANCE> (?:left me|dumped me|broke up with me|moved out|and i are no more)\b", "left dumped broke moved", act=SlotAct.ENDS),
    say("partner", r"<PERSON> (?:left me|dumped me|broke up with me)\b", "left dumped broke", act=SlotAct.ENDS),
    say("partner", r"(?:we|i) (?:called off|broke off) (?:the|our|my) (?:engagement|wedding)", "called broke", act=SlotAct.ENDS),
    say("partner", r"<AM>(?: single)(?: (?:again|now))?(?=[.,;!]|$| (?:and|since|after)\b)", "single", act=SlotAct.ENDS),
    say("partner", r"<PERSON>(?:'s| is) (?:no longer my <ROMANCE>|not my <ROMANCE> any ?more)(?=[.,;!]|$)", "longer anymore any", act=SlotAct.ENDS),
    say("partner", r"my ex(?:-?<ROMANCE>)?,? <PERSON>(?=[.,;!' ]|$)", "ex ex-husband ex-wife ex-boyfriend ex-girlfriend ex-partner", act=SlotAct.ENDS),
    say("marital_status", r"(?:<AM>|<BEEN>)(?: (?:a|newly|recently))? (?P<value>married|engaged|single|divorced|separated|widowed|widow|widower)(?=[.,;!]|$| (?:again|now|and|since|for|with|after|in|last|to (?-i:[A-Z])|to (?:an?|my (?:husband|wife)))\b)", "married engaged single divorced separated widowed widow widower", begins=True),
    say("marital_status", r"<I>(?: just| finally)? got (?P<value>married|engaged|divorced)\b", "got", begins=True),
    say("boss", r"<PERSON>(?:'s| is) (?:no longer|not) my (?:boss|manager|supervisor)\b", "longer not", act=SlotAct.ENDS),
    say("family", r"(?:i|we)(?:'ve got| have| have got) (?P<value>(?:an?|one|two|three|four|five|six|seven|\d) (?:(?:older|younger|little|big|grown-up|small|twin|half|adult|grown) )?(?:sons?|daughters?|kids?|children|brothers?|sisters?|siblings|grandchildren|grandkids|grandson|granddaughter|twins|boys|girls)(?: and (?:an?|one|two|three|four|five|\d) (?:(?:older|younger|little|big) )?(?:sons?|daughters?|brothers?|sisters?|boys?|girls?))?)(?=[.,;!]|$| (?:and|who|aged|called|named|now|at|in)\b)", "have got 've i've we've"),
    say("family", r"(?P<value>(?:one|two|three|four|five) (?:brothers?|sisters?|kids|children|sons|daughters)), (?:both|all|no|and no)\b", "brothers sisters brother sister kids children sons daughters"),
    say("family", r"i'm an only child", "only", says="an only child"),
    say("family", r"(?:since [\w: ]{1,20} )?i(?:'m| am|'ve become| became)(?: now| officially)? (?P<value>a (?:grandmother|grandfather|grandma|grandpa|mother|father|mum|mom|dad|godmother|godfather|parent|stepmother|stepfather|single (?:mother|father|mum|mom|dad|parent))|(?:godmother|godfather) to)\b", "grandmother grandfather grandma grandpa mother father mum mom dad godmother godfather parent stepmother stepfather"),
    say("family", r"(?:i|we) (?:have no|don't have any|haven't got any|don't have) (?P<value>children|kids|siblings|brothers or sisters|brothers|sisters)\b", "have got", act=SlotAct.ENDS),
)  # fmt: skip

OWNING: Final = (
    say("pet", rf"(?:my|our|(?:i|we)(?: have|'ve got| have got| keep| own| adopted| got)) (?:(?:two|three|four|both|the|my|our|new|old|other) )*(?:[a-z-]+ ){{0,2}}?(?P<slot>{_PLURAL})s?s(?:,? (?:who )?(?:are )?(?:called|named)|,? their names are| are| -|:|,)? {_NAMES}", " ".join(f"{kind.split()[-1]}s" for kind in _PLURAL.split("|")), shown="{value} ({slot})", many=True),
    say("pet", r"(?:my|our) (?:\w+ )?<PET>(?:,? |(?:'s name is |,? (?:is )?(?:called|named) ))<PERSON>(?! (?:died|passed|ran away|is gone))", "my our", shown="{value} ({slot})", anywhere=True),
    say("pet", r"(?:i|we)(?:(?:'ve| have)?(?: just| also| recently| finally)? (?:have|got|adopted|own|rescued|bought)|(?:'ve| have) had) (?:a|an|another) (?:[a-z-]+ ){0,3}<PET>,? (?:named|called) <PERSON>", "named called", shown="{value} ({slot})"),
    say("pet", r"(?:i |we )?(?:just |recently )?(?:adopted|got|rescued|bought) (?:a|an|another) (?:[a-z-]+ ){0,3}<PET>(?: (?:yesterday|today|last \w+|this \w+))?, (?:(?:his|her|its) name(?:'s| is)|(?:she|he)'s called|we (?:called|named) (?:her|him|it)) <PERSON>", "name name's called named", shown="{value} ({slot})"),
    say("pet", r"(?:i|we)(?: have|'ve got| keep| own) (?P<value>(?:an?|one|two|three|four|five|six|\d{1,2}) (?:[a-z-]+ ){0,2}(?:dog|cat|rabbit|goat|hen|chicken|horse|parrot|hamster|turtle|tortoise|snake|ferret|pony|budgie|bird|donkey|guinea pig|axolotl|gecko|goldfish)s?)(?=[.,;!]|$| (?:and|who|that|at|in|now)\b)(?!,? (?:(?:called|named) )?(?-i:[A-Z][\w-]*)(?:, (?-i:[A-Z])| and (?-i:(?!I\b)[A-Z])))", "have keep own we've i've"),
    say("pet", r"(?:my|our) (?:\w+ )?<PET>,? <PERSON>,? (?:died|passed away|ran away|is gone)", "died passed ran gone", act=SlotAct.ENDS, shown="{value} ({slot})"),
    say("pet", r"(?:my|our) (?:\w+ )?<PETS> (?:died|passed away|ran away)", "died passed ran", act=SlotAct.ENDS),
    say("pet", r"(?:i|we) (?:have no|don't have any|don't have a) (?P<value>pets?)\b", "pet pets", act=SlotAct.ENDS),
    say("car", r"<I>(?: drive| ride around in| get around in) (?:an? |my |our )<CAR>", "drive ride get", begins=True),
    say("car", r"(?:my|our) (?:new |current |old )?car(?:'s| is)(?: now)? (?:an? |the )?<CAR>", "car car's"),
    say("car", r"(?:(?:i|we)(?:'ve| have)? )?(?:(?:just|finally|recently) )?(?:bought|got|leased|picked up|signed for|ordered|switched to|traded (?:it|the \w+|my \w+) in for) (?:an? |the |my |our )(?:new |used |second-hand )?<CAR>(?! (?:brochure|key|t-shirt|poster))", "bought got leased picked signed switched traded", begins=True),
    say("car", r"(?:(?:i|we)(?:'ve| have)? )?(?:(?:just|finally|recently) )?(?:traded|swapped|exchanged)(?: in)? (?:the|my|our) (?:old )?[\w-]+(?: [\w-]+){0,2} for (?:an? |the )(?:new |used |second-hand )?<CAR>", "traded swapped exchanged", begins=True),
    say("car", r"(?:i|we)(?:'ve| have)(?: got)? an? <CAR> now\b", "now", begins=True),
    say("car", r"we're driving (?:down|up|over|there) in the <CAR>", "driving"),
    say("car", r"(?:(?:i|we)(?:'ve| have)? )?(?:(?:just|finally) )?(?:sold|scrapped|got rid of|gotten rid of|gave away|traded in|crashed and scrapped|wrote off|written off) (?:the|my|our) (?:old )?car\b", "car", act=SlotAct.ENDS),
    say("car", rf"(?:i|we)(?:'ve| have)? (?:just |finally |recently )?(?:sold (?:the|my|our) (?:old )?car\b|(?:gave|given|passed|handed) (?:the|my|our) (?:old )?car (?:on(?! to\b)\b|(?:on )?{_GIVEN}))", "car", act=SlotAct.ENDS),
    say("", r"(?:my|our) (?:old |new |beloved )?(?P<value>[a-z]+(?: [a-z]+)?) (?:was|got|has been|were) (?:just )?(?:stolen|nicked|pinched|sold|totalled|scrapped|wrecked|destroyed)\b", "stolen nicked pinched sold totalled scrapped wrecked destroyed", act=SlotAct.ENDS, among="owned"),
    say("", r"(?:someone|somebody|thieves|they|a thief) (?:just |has |have )?(?:stole|stolen|nicked|pinched) (?:my|our) (?:old |new |beloved )?(?P<value>[a-z]+(?: [a-z]+)?)(?=[.,;!]|$| (?:last|this|in|on|from|yesterday|today|while|outside)\b)", "stole stolen nicked pinched", act=SlotAct.ENDS, among="owned"),
    say("", rf"{_GAVE}{_TO_GIVE} {_THE_OWNED} (?:(?:on|down|over) )?{_GIVEN}", "gave given give giving passed pass handed hand leave left entrusted entrust", act=SlotAct.ENDS, among="owned"),
    say("", rf"{_GAVE}{_TO_GIVE} {_PET_NAMED} (?:up for adoption\b|(?:(?:on|over) )?{_GIVEN})", "gave given give giving passed pass handed hand leave left entrusted entrust", act=SlotAct.ENDS, among="owned"),
    say("", rf"{_GAVE}(?:re-?hom(?:ed?|ing)|donat(?:ed?|ing)) {_THE_OWNED}(?=[.,;!]|$| (?:last|this|in|on|yesterday|today|to|with|because|since|when)\b)", "rehomed rehome rehoming re-homed re-home donated donate donating", act=SlotAct.ENDS, among="owned"),
    say("", rf"{_GAVE}(?:find|found|finding) {_PET_NAMED} (?:a|another) (?:\w+ )?home\b", "find found finding", act=SlotAct.ENDS, among="owned"),
    say("", rf"{_GAVE}(?:find|found|finding) (?:a|another) (?:\w+ )?home for {_PET_NAMED}(?=[.,;!]|$)", "find found finding", act=SlotAct.ENDS, among="owned"),
    say("", rf"{_PET_NAMED} (?:(?:went|has gone|had to go|moved) to (?:live with )?|(?:now )?lives (?:now )?with |is now with )(?:{_TAKER})(?=[.,;!]|$| (?:now|last|this (?:spring|summer|autumn|winter|month|year)|in|for good|because|since|after|when)\b){_LENT}", "went gone moved lives go now", act=SlotAct.ENDS, among="pet"),
    say("", rf"{_PET_NAMED} (?:has (?:got )?a new (?:home|owner|family)|(?:was|got|has been|is being) (?:adopted|re-?homed|given away|taken in) ?(?:by {_TAKER})?)(?=[.,;!]|$| (?:now|last|in|on|yesterday|today)\b)", "new adopted rehomed re-homed given taken", act=SlotAct.ENDS, among="pet"),
    say("car", r"(?:my|our|the) car (?:was stolen|got stolen|is gone|is sold|was scrapped|has been sold)", "car", act=SlotAct.ENDS),
    say("car", r"(?:i|we) (?:don't (?:have|own) a|have no|no longer (?:have|own) a|haven't got a) car\b", "car", act=SlotAct.ENDS),
    say("phone", r"<I>(?: use| have|'ve got| got| bought| switched to| upgraded to| moved to) (?:an? |the |my )(?:new |used )?<HANDSET>", "use have got bought switched upgraded moved", begins=True),
    say("phone", r"(?:my|our) (?:new |current )?phone(?:'s| is)(?: now)? (?:an? |the )?<HANDSET>", "phone phone's"),
    say("phone", r"<I> (?:replaced|changed|swapped|upgraded) my (?:old )?phone,? (?:it's (?:now )?|for |with |to |by )(?:an? |the )?<HANDSET>", "replaced changed swapped upgraded", begins=True),
    say("phone", r"<I> (?:sold|lost|broke|dropped|got rid of) my phone\b", "phone", act=SlotAct.ENDS),
    say("possession", r"(?:i|we)(?:'ve| have)? (?:own|owned) (?P<value>an? (?!(?:bit|lot|few|couple|question|idea|feeling|hunch|plan|meeting|headache|cold|minute|moment|problem|job|day|great|good|really|very|interview|appointment|exam|date|point|theory|confession|request|surprise|favou?r)\b)[a-z][\w-]*(?: (?!(?:and|that|which|who|to|for|with|of|in|on|at|by|but|so|because|i|we|about|going|coming|from)\b)[\w-]+){0,2})(?=[.,;!]|$| (?:by|in|and|on|at)\b)", "own owned"),
    say("home", r"(?:i|we)(?:'ve| have)?(?: just| finally| recently)? (?:bought|rent|own) (?P<value>(?:an? |our )(?:[a-z-]+ ){0,2}(?:house|flat|apartment|cottage|bungalow|studio|condo|houseboat|farm|barge))(?=[.,;!]|$| (?:in|on|near|by|and|with|last|this|at)\b)", "bought rent own", begins=True),
    say("home", r"(?:(?:i|we)(?:'ve| have)? )(?:just |finally )?sold (?:the|my|our) (?:old )?(?:house|flat|apartment|cottage|bungalow|condo)\b", "sold", act=SlotAct.ENDS),
    say("", r"(?:(?:i|we)(?:'ve| have)? )?(?:just |finally )?(?:sold|got rid of|gave away|scrapped|traded in|parted with|donated) (?:the|my|our) (?:old )?(?P<value>(?-i:[A-Z0-9][\w-]*(?: [A-Z0-9][\w-]*){0,3}|[a-z]+(?: [a-z]+)?))(?=[.,;!]|$| (?:last|this|in|on|to|for|and|yesterday|today|went)\b)", "sold rid gave scrapped traded parted donated", act=SlotAct.ENDS, among="owned"),
    say("", r"(?:<I> (?:left|said goodbye to|am done with|gave up on)|<AM> done with) (?P<value>(?-i:[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*){0,2}))(?=[.,;!]|$| (?:last|this|in|on|for good|behind|and|yesterday|today|after)\b)", "left goodbye done gave", act=SlotAct.ENDS),
    say("", r"(?P<value>(?-i:[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*){0,2})) and i are (?:done|through|finished|history)", "done through finished history", act=SlotAct.ENDS),
)  # fmt: skip
