# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""How people say in English what they eat, like and cannot stand, what ails them, and what they speak."""

from __future__ import annotations

from typing import Final

from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots_en_words import say

_FOOD: Final = r"(?P<value>(?!(?:it|that|this|much|well|out|here|there|breakfast|lunch|dinner|like|a lot|enough|anything|something|more|so|the|my|your|in|at|before|after|with|to|any|alone|together|and)\b)[a-z][\w'-]*(?: (?!(?:and|or|but|because|since|so|when|while|as|if|any|at|in|on|for|with|from|now|these|again|much|often|before|after|every|unless|anymore|i|we|please|though|out)\b)[\w'-]+){0,2})"
_FOODS: Final = _FOOD[:-1] + r"(?:(?:, [a-z]+)*,? (?:and|or|nor) (?!i\b|we\b)[a-z]+(?: [a-z]+)?)?)"
_STOPS: Final = r"(?=[.,;!?)]|…|$| (?:and|but|because|since|so|when|any ?more|at all|any longer|now|these days|for|after|in|on|at|again|every|though|last|this|ever|as|either|before|unless|please|thanks?)\b| (?:\w+ ){1,2}(?:days?|weeks?|months?|years?) ago| [-—–])"
_AGAIN: Final = (
    r"(?:(?:now )?(?:eat|drink)|(?:(?:started|begun|gone back to|back to|am|'m) )?(?:eating|drinking)) <THING> again"
)
_EATING_SINCE: Final = r"eating (?:(?:red|white|some|more|a (?:bit|little) of) )?<THING>(?: again)?(?: since\b| for (?:(?:about|over|almost|nearly|the (?:last|past)) )*(?:a while|ages|(?:\w+ ){1,2}(?:days|weeks|months|years))\b| again(?=[.,;!)]|$)| (?:these days|lately)(?=[.,;!)]|$))"
"""What somebody has eaten for a while, so that they keep from it no more."""

_TAKEN_UP: Final = (
    r"(?:(?:took|taken|taking) up|(?:started|begun|resumed)|(?:went|gone|going|fell|fallen|slipped|slid) back (?:to|into|on)"
    r"|(?:straight |right )?back (?:to|on|at|into)|relapsed into|picked up)"
)
"""Does again what had ended."""
_RESUMED: Final = rf"(?:(?:i|we)(?:'ve| have|'m| am|'re| are)?(?: just| sadly| now| also| recently)* )?{_TAKEN_UP}"

_ILL: Final = "shellfish|seafood|shrimps?|prawns?|crab|lobster|oysters?|mussels|clams|squid|fish|tuna|salmon|milk|dairy|cheese|cream|ice cream|butter|yogh?urt|gluten|wheat|bread|pasta|eggs?|nuts?|peanuts?|almonds|cashews|walnuts|hazelnuts|sesame|soy|soya|tofu|meat|beef|pork|chicken|lamb|garlic|onions?|mushrooms?|tomatoes|peppers|spicy food|chilli|curry|alcohol|wine|red wine|beer|coffee|caffeine|chocolate|sugar|strawberries|kiwi|bananas?|avocados?|mangos?|mangoes|melon|celery|beans|lentils"
_REACTS: Final = (
    r"(?:\W+(?:(?:or|because|since|so|as|cos|otherwise|and|then|else) )?(?:it |they |i |that )?)"
    r"(?:(?:my |the )?(?:throat|lips?|tongue|mouth|face|eyes?|airways?) (?:just |always |will |would )?(?:closes?|close up|swells?|swell|itch(?:es)?|puffs?|tingles?|goes? numb)"
    r"|(?:(?:brings?|come|comes|break|breaks|get|gives?|bring) (?:me |up |on |out |in |a )*)(?:hives|rash|welts)|can't breathe|(?:carry|have|need) an epi-?pen|anaphyla\w+)"
)
"""What a food does to who is allergic to it, behind the food."""
_REACTING: Final = "throat lip lips tongue mouth face eye eyes airway airways hives rash welts breathe epipen epi anaphylaxis anaphylactic"
"""Words of which one stands in every such sentence."""
_CANNOT: Final = r"(?:can't|cannot|don't|never|must not|mustn't)(?: really| ever)?"
_ALLERGENS: Final = (
    rf"(?:(?:tree|brazil|pine|raw|cow's) )?(?:{_ILL})|(?:tree|brazil|pine) nuts|coconuts?|pineapple|papaya|peach(?:es)?|apples?|pears?|plums?|cherries|grapes?|citrus|oranges?|lemons?|berries|raspberries|blueberries"
    r"|mustard|lupin|corn|rice|oats|barley|rye|pistachios?|pecans?|pine nuts|sulphites|sulfites|honey|latex|nickel|wool|pollen|dust|feathers|cats?|dogs?|horses?|rabbits?|penicillin|amoxicillin|ibuprofen|aspirin|codeine"
)
_ALLERGEN: Final = rf"(?P<value>(?:{_ALLERGENS}))\b"
"""What people are known to react to, since visitors and mornings make eyes puff too."""
_EATEN: Final = _FOOD.replace(
    "(?!(?:it|", r"(?!(?:late|early|fast|slowly|\w+ly|standing|lying|raw|spicy|hot|cold|it|", 1
)
"""Any food behind a verb of eating, and not the way in which one eats."""
_ILL_FOOD: Final = rf"(?P<value>(?:{_ILL}))\b"

_NAMED_ALLERGEN: Final = rf"\b(?:{_ALLERGENS})\b"
_FALSE_ALARM: Final = r"(?:was|were|is|are|turned out(?: to be)?|came back(?: as)?)(?: just| only| actually)*(?: an?)? (?:false (?:positives?|alarm)|misdiagnos\w+|misread|mistaken?)\b"
_RESTORED: Final = r"(?:is|are|'s|'re)(?: now| finally| officially)* back(?: on the (?:menu|table|cards)| in my diet)?(?=[.,;!)]|$| (?:again|now|and|baby)\b)"

DIET: Final = (
    say("diet", r"(?:<AM>|<BEEN>|that makes (?:me|us))(?: (?:a|an|going|strictly|mostly|basically|essentially|effectively|technically|pretty much|more of an?))* <DIET>(?! (?:restaurant|food|recipe|place|option|menu|cheese|dish|cook|book)\w*)", "vegan vegetarian vegetarians vegans pescatarian pescatarians pescetarian pescetarians flexitarian lactose-intolerant lactose gluten gluten-free gluten-intolerant dairy dairy-free plant-based keto kosher halal paleo low carnivore omnivore teetotal teetotaller teetotaler sugar-free sugar low-carb low-salt"),
    say("diet", r"^been (?:an? )?(?:<DIET>)(?=,? (?:since|for)\b)", "been", begins=True, headless=True),
    say("diet", r"(?:<AM>|<BEEN>) (?P<value>veggie)(?=[.,;!]|$| (?:since|for|now|and|so|but)\b)", "veggie", begins=True),
    say("diet", r"^been (?P<value>veggie)(?=[.,;!]|$| (?:since|for|now|and|so|but)\b)", "veggie", begins=True, headless=True),
    say("diet", r"<I> (?:went|gone|turned|became|become|switched to(?: a)?|converted to|am eating|eat|keep|follow (?:a|an)|stick to (?:a|an)|(?:(?:consider|call|describe) (?:myself|ourselves)(?: as)?|identify as|count as)(?: an?(?= ))?) <DIET>(?! (?:restaurant|recipe|place|option|menu|dish|cook|book)\w*)", "went gone turned became become switched converted eat eating keep follow stick consider call describe identify count", begins=True),
    say("diet", r"i eat (?P<value>everything|anything), (?:no exceptions|really)", "eat"),
    say("diet", r"<AM> (?:no longer|not)(?: an?)? <DIET>(?=[.,;!]|$| (?:any ?more|now|and|but|these)\b)", "longer not", act=SlotAct.ENDS),
    say("diet", r"<I> (?:stopped|quit|gave up)(?: being| on)?(?: an?)? (?P<value>vegan|vegetarian|pesc[ae]tarian|keto|paleo|kosher|halal|veganism|vegetarianism)\b", "stopped quit gave", act=SlotAct.ENDS),
    say("diet", r"i packed in (?P<value>keto|paleo|veganism|vegetarianism)\b", "packed", act=SlotAct.ENDS),
    say("diet", r"(?:<I> (?:eat|started eating|have started eating)|<AM> eating) (?:meat|fish|chicken|beef|pork) again", "again", act=SlotAct.ENDS),
    say("diet", r"<I> (?:went|have gone|gone) back to (?:eating )?(?:meat|fish|chicken|beef|pork)(?=[.,;!]|$| (?:in|last|this|and|because)\b)", "back", act=SlotAct.ENDS),
    say("", r"(?:^(?:just |now |finally |so )*|<AM> |<I> (?:went|gone) )(?:back to )?eating (?:normally|everything|as (?:normal|before|usual)|like (?:before|normal))(?: again| now)\b", "eating", act=SlotAct.ENDS, among="kept_from", headless=True),
    say("", r"(?:^(?:just |now |finally |so )*|<AM> |<I> (?:went|gone) )back to eating (?:normally|everything|as (?:normal|before|usual)|like (?:before|normal))(?=[.,;!)]|$)", "eating", act=SlotAct.ENDS, among="kept_from", headless=True),
    say("", rf"<I> {_AGAIN}", "again", act=SlotAct.ENDS, among="kept_from"),
    say("", rf"<BEEN> {_EATING_SINCE}", "eating", act=SlotAct.ENDS, among="kept_from"),
    say("", rf"^been {_EATING_SINCE}", "eating", act=SlotAct.ENDS, among="kept_from", headless=True),
    say("", rf"{_ILL_FOOD} {_RESTORED}", "back", act=SlotAct.ENDS, among="kept_from"),
    say("diet", r"(?:<I> |<AM> )(?:(?:went|gone|switched|have gone) )?back to (?:being |eating )?(?:an? )?<DIET>(?! (?:restaurant|recipe|place|option|menu|dish|cook|book)\w*)", "back", begins=True),
    say("avoids", rf"(?:i|we)(?: (?:really|just|mostly|usually))? (?:don't|do not|can't|cannot|never|no longer) (?:eat|drink|touch|consume) {_FOODS}{_STOPS}", "eat drink touch consume", many=True),
    say("avoids", rf"(?:i|we) can't (?:have|tolerate|digest) {_FOODS}{_STOPS}", "have tolerate digest", many=True),
    say("avoids", rf"<I> (?:avoid|gave up|given up|cut out|quit|stopped (?:eating|drinking)|stay away from|kicked|swore off|stopped) (?!(?:my|the|a|on|going|working|being|playing|doing|using|coming|trying|by|at|when|for|having|looking)\b)(?P<value>(?:(?:added|red|cow's|processed|fried) )?(?:meat|beef|pork|lamb|chicken|fish|seafood|shellfish|dairy|milk|cheese|butter|eggs?|gluten|wheat|bread|sugar|sweets|chocolate|salt|alcohol|wine|beer|drinking|smoking|vaping|cigarettes|caffeine|coffee|soda|nuts|peanuts|soy|carbs|fat|fast food|junk food|spicy food)){_STOPS}", "avoid gave given cut quit stopped stay kicked swore", begins=True),
    say("avoids", r"^(?:just |finally |recently )?(?:gave up|given up|quit|stopped) (?P<value>smoking|drinking|vaping)(?=[.,;!]|$| (?:last|this|in|for good|on|at|a|two|three|and|years|months)\b)", "gave given quit stopped", begins=True, headless=True),
    say("avoids", r"no (?P<value>(?:added )?(?:meat|beef|pork|fish|seafood|dairy|milk|eggs?|gluten|sugar|alcohol|wine|caffeine|coffee|nuts|salt|onions?|garlic|cilantro|coriander|mushrooms)) for (?:me|us)\b", "no"),
    say("avoids", r"i don't (?P<value>drink|smoke)(?=[.,;!]|$| (?:and|at all|any ?more)\b)", "drink smoke", shown="{value}ing"),
    say("avoids", rf"<I> {_AGAIN}", "again", act=SlotAct.ENDS, begins=True),
    say("avoids", rf"<BEEN> {_EATING_SINCE}", "eating", act=SlotAct.ENDS, begins=True),
    say("avoids", rf"^been {_EATING_SINCE}", "eating", act=SlotAct.ENDS, headless=True),
    say("avoids", rf"{_RESUMED} (?P<value>(?:smoking|drinking|vaping)|(?:meat|fish|coffee|alcohol|sugar|dairy|gluten|caffeine|cigarettes|wine|beer))(?=[.,;!]|$| (?:again|now|last|this|in|since|after|because|and|sadly|full[- ]time)\b)", "back again resumed relapsed", act=SlotAct.ENDS, begins=True),
    say("avoids", rf"{_RESUMED} (?:eating|drinking) <THING>(?=[.,;!]|$| (?:again|now|last|this|in|since|after|because|and|sadly)\b)", "back again resumed relapsed", act=SlotAct.ENDS, begins=True),
    say("avoids", rf"{_RESUMED} (?:the |my )?(?:cigarettes|cigs|ciggies|fags|smokes|nicotine|a pack a day)\b", "back again resumed relapsed", act=SlotAct.ENDS, says="smoking", begins=True),
    say("avoids", rf"{_RESUMED} (?:the |my )?(?:cigarettes|cigs|ciggies|fags|smokes|nicotine|a pack a day)\b", "back again resumed relapsed", act=SlotAct.ENDS, says="cigarettes", begins=True),
    say("avoids", rf"{_RESUMED} (?:the |my )?(?:booze|bottle|drink|wine|beer)\b", "back again resumed relapsed", act=SlotAct.ENDS, says="alcohol", begins=True),
    say("avoids", r"i(?: (?:now |also |sadly )?smoke|'m smoking| am smoking|(?: have|'ve)? started smoking| (?:relapsed|slipped) and (?:now )?smoke) again", "again", act=SlotAct.ENDS, says="smoking"),
    say("avoids", rf"(?:i|we) (?:get|feel) (?:ill|sick|unwell|hives|a rash) (?:from|after eating|after drinking|if i eat|when i eat) {_ILL_FOOD}", "ill sick unwell hives rash"),
    say("avoids", rf"(?:any |all |eating |drinking )?{_ILL_FOOD} (?:always |really |just |usually |tends? to |can )*(?:makes? me (?:ill|sick|unwell|vomit|throw up|nauseous|bloated|break out|itch)|give(?:s)? me (?:hives|a rash|cramps|stomach ?aches?|an upset stomach|the runs)|upsets? my stomach|(?:doesn't|don't|does not|do not) agree with me)", "ill sick unwell vomit nauseous bloated itch hives rash cramps stomach agree throw break runs"),
    say("allergy", r"<AM> allergic to (?P<value>(?!(?:this|that|it|the|work|mondays?|people|you)\b)[\w-]+(?: (?!and|so|but|or|now|too|as|in|since|because|which|after all|i)[\w-]+)?(?:(?:, [\w-]+)*,? and (?!i\b|my\b|it\b|can\b|so\b)[\w-]+)?)", "allergic", many=True),
    say("allergy", r"(?:i|we)(?:'ve| have)?(?: got| developed)?(?: have)? (?:a|an)(?: severe| bad| mild| serious| slight)? (?P<value>(?!(?:food|severe)\b)[\w-]+(?: [\w-]+)?) allergy\b", "allergy"),
    say("allergy", r"(?:i|we)(?:'ve| have)?(?: got| developed| have)? (?:a|an)(?: severe| bad| mild| serious| slight)? allergy to (?P<value>[\w-]+(?: (?!and|so|but|or|now|too|in|since|which)[\w-]+)?)", "allergy"),
    say("allergy", r"(?:turns out |it turns out )i'm(?: actually| also)? allergic to (?P<value>[\w-]+(?: (?!and|so|but|or|now|too|in|since|which|not|after all)[\w-]+)?)", "allergic"),
    say("allergy", r"(?:also |even )?(?P<value>(?!also\b|even\b)[\w-]+(?: [\w-]+)?) (?:gives? me (?:hives|a rash|welts)|(?:brings?|makes?) me (?:out|break out|come out) in (?:hives|welts|a rash|spots))", "hives rash welts spots"),
    say("allergy", rf"(?:(?:i|we) )?{_CANNOT} (?:have|touch|go near|tolerate) (?:any )?{_ALLERGEN}{_REACTS}", _REACTING, many=True),
    say("allergy", rf"(?:(?:i|we) )?{_CANNOT} (?:eat|drink) {_EATEN}{_REACTS}", _REACTING, many=True),
    say("allergy", rf"no {_ALLERGEN} for (?:me|us){_REACTS}", _REACTING, many=True),
    say("allergy", r"<AM> (?:no longer|not)(?: actually| really)? allergic to (?P<value>(?!(?:this|that|it)\b)[\w-]+(?: (?!and|so|but|or|now|too|in|since|any|after)[\w-]+)?)", "allergic", act=SlotAct.ENDS),
    say("allergy", r"<I> (?:outgrew|outgrown|got over) (?:my|the) (?P<value>[\w-]+(?: [\w-]+)?) allergy", "allergy", act=SlotAct.ENDS),
    say("allergy", rf"(?:it )?(?:turns out (?:that )?)?(?:my|the|that) {_ALLERGEN}(?: allergy)?(?: (?:skin|blood|prick))?(?: (?:test|result|reading|diagnosis))?s? {_FALSE_ALARM}", "positive positives alarm misdiagnosis misdiagnosed misread mistake mistaken", act=SlotAct.ENDS),
    say("allergy", rf"(?:it )?(?:turns out (?:that )?)?(?:my|the) allergy(?: (?:skin|blood|prick))?(?: (?:test|result|reading|diagnosis))?s? {_FALSE_ALARM}", "positive positives alarm misdiagnosis misdiagnosed misread mistake mistaken", act=SlotAct.ENDS, elsewhere=_NAMED_ALLERGEN),
    say("allergy", r"^(?:finally |officially )?no longer allergic to (?P<value>(?!(?:this|that|it)\b)[\w-]+)(?=[.,;!)]|$| (?:and|so|now)\b)", "allergic", act=SlotAct.ENDS, headless=True),
    say("allergy", r"^(?:finally |officially )?no longer allergic(?=[.,;!)]|$)", "allergic", act=SlotAct.ENDS, elsewhere=_NAMED_ALLERGEN, headless=True),
    say("allergy", r"<AM> (?:no longer allergic(?: any ?more)?|not allergic (?:any ?more|any longer|after all))(?=[.,;!)]|$| (?:and|so|now)\b)", "allergic", act=SlotAct.ENDS, elsewhere=_NAMED_ALLERGEN),
    say("allergy", r"(?:my|the) (?P<value>[\w-]+(?: [\w-]+)?) allergy (?:is|has) (?:gone|over|cured|disappeared)", "allergy", act=SlotAct.ENDS),
)  # fmt: skip

LIKING: Final = (
    say("", r"my (?P<slot>favou?rite \w+(?: \w+)?)(?:'s| is| are)(?: now)? (?P<value>(?!(?:when|how|that|to|probably|definitely|so|the one)\b)[\w'-]+(?: (?!because|and|but|now)[\w'-]+){0,4})<END>", "favorite favourite"),
    say("likes", r"(?:i|we)(?:'ve| have)?(?: (?:really|absolutely|totally|truly|just|also|still|always|now|actually|do))* (?:love|like|enjoy|adore|loved and still love) <THINGS><END>", "love like enjoy adore", many=True),
    say("likes", r"i(?:'m| am)(?: (?:really|such|still|quite|so|a|an|huge|big|massive|very|totally))* (?:into|fond of|crazy about|obsessed with|mad about|fan of|keen on|addicted to|hooked on) <THINGS><END>", "into fond crazy obsessed mad fan keen addicted hooked", many=True),
    say("likes", r"i can't (?:get enough of|live without) <THINGS><END>", "enough without", many=True),
    say("likes", r"(?P<value>[a-z][\w-]*(?: [\w-]+){0,2}) (?:have won me over|has won me over|is my thing|are my thing|is my favou?rite|are my favou?rites?)(?=[.,;!]|$)", "won thing favourite favorite favourites"),
    say("likes", r"i(?:'ve| have)?(?: (?:now|really|generally|much|always|usually|'d))* prefer <THING>(?= (?:to|over|rather|instead)\b|[.,;!]|$)", "prefer", shown="{value}"),
    say("likes", r"give me (?P<value>[a-z][\w-]*(?: [\w-]+){0,2}) over [\w ]{1,30} any day", "give"),
    say("dislikes", r"(?:i|we)(?: (?:really|absolutely|totally|just|also|still|always|truly))* (?:hate|dislike|can't stand|cannot stand|don't (?:really |much )?(?:like|enjoy|care for)|do not like|loathe|despise|detest) <THINGS><END>(?! (?:any ?more|any longer|now))", "hate dislike stand like enjoy care loathe despise detest", many=True),
    say("dislikes", r"i(?:'m| am) not (?:really |much of |exactly )*(?:a |an )?(?:big |huge )?(?:into|fond of|fan of|keen on|crazy about) <THINGS><END>(?! (?:any ?more|any longer))", "not", many=True),
    say("dislikes", r"(?P<value>[a-z][\w-]*(?: [\w-]+)?) (?:isn't|aren't|is not|are not) (?:really )?my (?:thing|cup of tea)", "my"),
    say("likes", r"(?:i|we) (?:no longer (?:like|love|enjoy)|don't (?:like|love|enjoy)) <THINGS>(?: any ?more| any longer)?(?=[.,;!]|$| any)", "longer anymore any", act=SlotAct.ENDS, many=True),
    say("likes", r"i(?:'ve| have)? (?:gone off|went off|lost (?:all |my |any )?(?:taste|interest|appetite) (?:for|in)|fallen out of love with|grown tired of|got bored of|gotten bored of) <THINGS><END>", "gone went lost fallen grown bored", act=SlotAct.ENDS, many=True),
    say("likes", r"i(?:'m| am) (?:no longer|not) (?:into|fond of|a fan of|keen on) <THINGS>(?: any ?more| any longer)(?=[.,;!]|$)", "longer anymore any", act=SlotAct.ENDS, many=True),
)  # fmt: skip

AILING: Final = (
    say("health", r"(?:i|we)(?:'ve| have)?(?: (?:also|still|recently|just))*(?: have| got| been diagnosed with| was diagnosed with| suffer from| live with| developed)+(?: (?:a|an|mild|severe|chronic|bad|a touch of|really bad|terrible))* <CONDITION>(?=[.,;!]|$| (?:and|since|so|but|for|in|at|last|this|now|too|as|which|from|every)\b)", "have got diagnosed suffer live developed i've"),
    say("health", r"<I>(?:'ve)? (?:got|have|had) (?P<value>type (?:1|2|one|two))(?=[.,;!]|$| (?:so|and|since|but)\b)", "type", shown="{value} diabetes"),
    say("health", r"(?:<AM>|i've been)(?: (?:a|an|partially|partly|legally|five months|six months|seven months|\w+ (?:weeks|months)))* <CONDITIONAL>(?=[.,;!]|$| (?:and|since|so|but|for|in|now|too|as|with|too|from)\b)", "diabetic asthmatic epileptic anaemic anemic dyslexic autistic blind colour-blind color-blind colourblind colorblind pregnant coeliac celiac hypertensive deaf hard short-sighted near-sighted long-sighted insomniac hypoglycemic hypoglycaemic immunocompromised"),
    say("health", r"i (?:now )?wear (?P<value>glasses|contacts|contact lenses|hearing aids|a hearing aid|braces|a brace|a retainer|bifocals|a prosthesis)(?=[.,;!]|$| (?:and|since|so|but|for|now|too)\b)", "wear"),
    say("health", r"i(?:'ve| have) moved from [\w ]{1,20} to (?P<value>an? (?:insulin pump|inhaler|\w+ pump))", "pump inhaler", begins=True),
    say("medication", r"(?:(?:my )?(?:doctor|doc|gp|cardiologist) (?:has )?put me on|i(?:'m| am)(?: (?:now|currently|still))? (?:on|taking)|i(?: now)? take) (?P<value>(?:insulin|metformin|ibuprofen|aspirin|paracetamol|antidepressants|beta ?blockers|blood thinners|statins|warfarin|levothyroxine|antihistamines|the pill|iron tablets|ferrous sulfate|lithium|methotrexate|prednisone|(?:[a-z]+(?:pril|olol|statin|azole|mycin|cillin|sartan|zepam|oxetine|parin|formin|thyroxine|traline|lukast|dipine))))\b", "on taking take", begins=True),
    say("medication", r"i(?:'m| am) (?:off|no longer (?:on|taking)|not taking) (?P<value>insulin|metformin|antidepressants|beta ?blockers|statins|warfarin|levothyroxine|[a-z]+(?:pril|olol|statin|azole|mycin|cillin|sartan|zepam|oxetine|parin|formin))\b", "off longer not", act=SlotAct.ENDS),
    say("health", r"(?:i|we) (?:don't have|no longer have|haven't got|have no) <CONDITION>(?=[.,;!]|$| (?:any ?more|and|but)\b)", "have got", act=SlotAct.ENDS),
    say("health", r"<AM> (?:no longer|not)(?: an?)? <CONDITIONAL>(?=[.,;!]|$| (?:any ?more|and|but)\b)", "longer not", act=SlotAct.ENDS),
    say("health", r"my <CONDITION> (?:is|has|'s) (?:gone|cured|over|cleared up|disappeared)", "gone cured over cleared disappeared", act=SlotAct.ENDS),
)  # fmt: skip

SPEAKING: Final = (
    say("native_language", r"my (?:native|first|mother) (?:language|tongue)(?:'s| is) <LANGUAGE>", "native first mother"),
    say("language", r"(?:i|we)(?:'ve| have)?(?: (?:can|also|still|mostly|mainly|only|both|usually))*(?: speak| know| spoke| speak in)(?: (?:some|fluent|a (?:bit|little)(?: of)?|decent|basic|good|enough|mostly|only|mainly|both))* <LANGUAGES>", "speak know", many=True),
    say("language", r"<AM> (?:fluent|bilingual|conversational)(?: in)? <LANGUAGES>", "fluent bilingual conversational", many=True),
    say("language", r"i grew up (?:with|speaking) <LANGUAGES>", "grew", many=True),
    say("language", r"(?:mum|mom|dad|my \w+|we) and i (?:speak|bicker|talk|argue|chat) in <LANGUAGE>", "speak bicker talk argue chat"),
    say("learning", r"(?:<AM>|<BEEN>)(?: (?:learning|studying|taking lessons in|taking)) <LANGUAGES>", "learning studying taking", many=True),
    say("learning", r"<I> (?:started|began|took up|am taking up)(?: learning| studying| on)? <LANGUAGES>", "started began took taking", many=True, begins=True),
    say("learning", r"(?:<I> |<AM> )(?:(?:went|gone|switched|moved|have gone|came) )?back (?:to|on|at|with) (?:learning |studying )?<LANGUAGES>(?! (?:food|wine|films?|music|books?|lit|class)\b)", "back", many=True, begins=True),
    say("learning", r"<LANGUAGES> (?:just |really )*(?:wasn't|was not|isn't|is not|weren't) for me", "for", act=SlotAct.ENDS, many=True),
    say("learning", r"<I> (?:stopped|quit|gave up|given up|dropped)(?: learning| studying| on)? <LANGUAGES>", "stopped quit gave given dropped", act=SlotAct.ENDS, many=True),
    say("language", r"(?:i|we) (?:don't|do not|can't|no longer|never) (?:really )?speak (?:a word of |any |much )?<LANGUAGES>", "speak", act=SlotAct.ENDS, many=True),
    say("language", r"my <LANGUAGE> (?:is|has) (?:all )?(?:gone|forgotten|lost|vanished)", "gone forgotten lost vanished", act=SlotAct.ENDS),
)  # fmt: skip

_RIGHT: Final = r"(?:(?:spelled|spelt|written) )?(?P<value>(?!(?:that|this|the one|a|so|fine|ok|okay|about|really|just|not|because|my|your|me|you|up|only|all|in|on|at|for|to|from|with)\b)[\w'.@+&-]+(?: (?!(?:not|and|rather|instead|but|is|was|i)\b)[\w'.@+&-]+){0,4})"
_MISTAKEN: Final = r"(?P<wrong>(?!(?:that|because|a|so|just|only|really|to|in|on|at|for|from|with|the other|sure|my|as|if|like)\b)[\w'.@+&-]+(?: (?!(?:and|but|is|was|i|sorry|by|as)\b)[\w'.@+&-]+){0,4}?)(?=[.,;!]|$| (?:sorry|any ?more|as)\b| [-—–])"
_SORRY: Final = r"(?:(?:no|sorry|actually|oops|correction|wait|nope|argh|hang on|my mistake|my bad|i meant|i mean|i misspoke|scratch that|well)[,.:!]* ){0,3}"
_SECOND_THOUGHT: Final = (
    r"(?:(?:oh|ah|no|nope|wait|sorry|oops|argh|hang on|hold on|actually|correction|scratch that|i mean|i meant|make that|rather|my mistake|my bad)[,.:!…-]* ){1,4}"
    r"(?:(?:it's|it is|that's|that should be|it should be|should be) )?"
)
_NO_WAIT: Final = (
    r"(?:(?:oh|argh|oops) )?(?:no,? wait|wait,? no|no,? sorry|sorry,? no)[,.:!…-]* (?:(?:it's|i mean) )?(?:in )?"
)
"""What cannot but take back what was just said; a name behind "sorry" may be of whom it is said to."""

RIGHTING: Final = (
    say("", rf"{_SECOND_THOUGHT}<NUMBER>(?=[.,;!)]|$| (?:it is|thanks?|please|instead|now)\b)(?!,? (?:is|was)\b)", "no nope wait sorry oops hang hold actually correction scratch mean meant make rather mistake bad", act=SlotAct.CORRECTS),
    say("", rf"{_SECOND_THOUGHT}<MAIL>(?=[.,;!)]|$| (?:it is|thanks?|please|instead|now)\b)", "@", act=SlotAct.CORRECTS),
    say("", rf"{_SECOND_THOUGHT}(?P<value>\d{{1,3}})(?=[.!)]|$| (?:thanks?|please|now)\b)", "no nope wait sorry oops hang hold actually correction scratch mean meant make rather mistake bad", act=SlotAct.CORRECTS),
    say("", rf"{_NO_WAIT}<PLACE>(?=[.!)]|$)", "wait sorry", act=SlotAct.CORRECTS),
    say("", rf"{_SORRY}(?:it's|it is|that's|my name is|(?:my|her|his|their) (?:name|surname|last name|first name) (?:is|should be)|(?:name|surname)(?:'s| is)?|it should be)(?: actually| really| in fact)? (?:spelled|spelt|written) (?P<value>(?-i:[A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)?))(?! with\b.*\bnot\b)(?=[.,;!]|$| (?:with|and|by|in)\b)", "spelled spelt written", act=SlotAct.SPELLS),
    say("", rf"{_SORRY}(?:it's|it is|that's|that is|i meant|i mean|make that|it should be|that should be|should be|it was)(?: actually| really| in fact)? (?:(?:in|at|on|called|named|the|with|for) )?{_RIGHT}(?:,| -| –| —)? (?:and )?(?:not|rather than|instead of) (?:(?:in|at|on|called|named|with|for) )?{_MISTAKEN}", "not rather instead", act=SlotAct.CORRECTS),
    say("", rf"{_SORRY}(?:i|we)(?:'m| am| live| work| moved|'re| are| meant| mean)(?: (?:in|at|to|for|from|called|named|with|a|an))? {_RIGHT},? (?:and )?not (?:(?:in|at|to|on|for|from|called|named|with|a|an) )?{_MISTAKEN}", "not", act=SlotAct.CORRECTS),
    say("", rf"{_RIGHT}, (?:i meant|i mean|sorry|i should have said|i should've said|that is|if we're being picky|to be exact),? not {_MISTAKEN}", "meant mean sorry said not", act=SlotAct.CORRECTS),
    say("", rf"not (?:(?:in|at|on) )?(?P<wrong>[\w'.@+-]+(?: [\w'.@+-]+)?)[,;:!] (?:but |it's |i meant |sorry, )?{_RIGHT}[!.,]", "not", act=SlotAct.CORRECTS),
    say("", rf"i (?:said|wrote|typed|told you)(?: it was| that)? {_MISTAKEN},? (?:but )?(?:i )?(?:meant|mean|should have said) {_RIGHT}(?=[.,;!]|$)", "meant mean said", act=SlotAct.CORRECTS),
    say("", rf"(?:(?:no|sorry|oops|wait|correction)[,.:!]* )?(?:i meant(?: to say| to write)?|make that|scratch that,?|correction:|i mean) (?:(?:in|at|it's) )?{_RIGHT}(?=[.!]|$)", "meant make scratch correction mean", act=SlotAct.CORRECTS),
)  # fmt: skip
