# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Standing instructions in English that no word for every time marks: plain orders, and wishes about the assistant.

What makes such a sentence standing is that it speaks of the assistant's own output in general: bare plurals and
forms ("bullet points", "metric units", "my captions"), occasions in the present ("when you draft"), the listener
("with me"). A word that points at what is before us (`POINTING`) undoes it.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.extract.patterns import InstructionPattern

_PLEASE: Final = r"(?:(?:please|pls|plz|kindly|just|simply|also|then|so|do|maybe|perhaps|but|and)[, ]+)*"
_NOT: Final = r"(?:don'?t|do not|never)"
_MODIFIER: Final = r"(?:(?!(?:the|a|an|my|your|his|her|their|our|is|are|was|to|for|of|me|you|i|we|and|or|but|in|with|as)\b)[\w'-]+,? (?:and |or )?){0,3}"
_FORM: Final = (
    r"(?:(?:bullets?|bullet[ -]points?|paragraphs|sentences|words|wording|steps|lists|tables|headings|headers|diffs|patches|snippets|code blocks?|comments|type hints"
    r"|units|metric|imperial|celsius|fahrenheit|kelvin|kilomet(?:re|er)s|miles|kilos|kilograms|grams|ounces|cups|lit(?:re|er)s|pounds|euros|dollars|francs|yen|currency"
    r"|time zones?|timezones?|24[ -]hour\w*|12[ -]hour\w*|military time|iso|format(?:ting)?|english|french|spanish|german|italian|portuguese|chinese|mandarin|cantonese|japanese|korean|dutch|polish|russian|arabic|hindi|turkish|swedish"
    r"|spelling|grammar|prose|plain ?text|text|markdown|latex|html|numbers|numerals|figures|digits|examples|analogies|metaphors|sources|citations|references|links|footnotes|quotes"
    r"|capitals|caps|upper ?case|lower ?case|title case|camel ?case|snake ?case|tabs|spaces|semicolons|quotation marks|exclamation (?:marks|points)|emojis?|emoticons|smileys|hashtags|asterisks|dashes|em dashes|commas|abbreviations|acronyms|jargon|slang|contractions"
    r"|clich[eé]s|buzzwords|idioms|swear ?words|profanity|vocabulary|terms|terminology|language|tone|voice|style|pronouns|titles|honorifics|first names?|pinyin|dialect|verse|rhymes?|summar(?:y|ies)|tl;?dr)\b)"
)
"""The shape of what somebody writes, without an article."""
_OUTPUT: Final = (
    r"(?:(?:answers|replies|responses|messages|explanations|summaries|suggestions|recommendations|ideas|tips|advice|e-?mails|mails|texts|texting|letters|captions|posts|tweets|drafts|writing|essays|documents|docs|slides|reports|notes"
    r"|code|snippets|functions|scripts|queries|commits?|tests|recipes|menus|meals|meal plans|dinners|workouts|exercises|itineraries|plans|trips|routes|directions|schedules|to-?do lists|lists|budgets|charts|graphs|tables|feedback|criticism"
    r"|translations|corrections|lessons|instructions|steps|how-?tos|walkthroughs|definitions|quizzes|questions|stories|poems|examples|sources|links|movies?|films|books|songs|music|shows|restaurants|hotels|flights|products|gifts|chords|content|information|info|news|output|wording|documentation)\b)"
)
_DATA: Final = (
    r"(?:(?:dates|times|prices|amounts|sums|numbers|distances|lengths|weights|heights|speeds|paces|temperatures|measurements|measures|quantities|sizes|units|names|words|terms|acronyms|abbreviations|concepts|things|stuff|everything|anything"
    r"|formulas|formulae|equations|variables|titles|headings|keywords|phone numbers|addresses|calories|costs|ages|jargon|topics|problems|errors|bugs)\b)"
)
_MANNERISMS: Final = (
    r"(?:disclaimers?|warnings|caveats|pep[ -]talks?|cheerleading|compliments?|praise|pleasantries|niceties|formalities|flattery|small ?talk|chit-?chat|preambles?|introductions|intros|outros|apologies|apologi[sz]ing|emojis?|emoticons|smileys|exclamation (?:marks|points)"
    r"|jargon|puns|jokes|moralis\w+|moraliz\w+|lectures?|lecturing|preaching|sugar-?coating|hedging|platitudes|clich[eé]s|fluff|filler|padding|waffle|follow-?ups?|sign-?offs?|greetings|salutations|hashtags|asterisks|buzzwords|spoilers?|recaps|repetition|repeating|fancy words|big words|swear ?words|profanity|sarcasm|motivational \w+|summar(?:y|ies) at the end|closing \w+|opening \w+|thanks|thank[ -]yous)\b"
)
"""Manners of assistants that people name in order to be rid of them."""
_SAY: Final = (
    r"(?:write|answer|reply|respond|explain|describe|define|give|show|tell|use|keep|put|make|spell|format|sign|quote|quiz|test|teach|talk|speak|address|refer|list|number|stick|skip|avoid|leave|drop|omit|cut|spare|include|add|mention|cite|start|begin|end|open|close|lead"
    r"|present|translate|convert|express|measure|phrase|word|structure|break|split|summari[sz]e|correct|point|highlight|bold|draft|code|indent|comment|name|suggest|recommend|offer|propose|assume|treat|consider|check|ask|warn|remind|flag|challenge|push|limit|round|label|mark"
    r"|rely|wrap|prefer|favou?r|go|be|stay|say|walk|guide|separate|space|mix|throw|sneak|load|fill|do|bring|plan|pick|choose|book|order|criticise|criticize|praise|repeat|apologi[sz]e|swear|joke|rush|interrupt|second-guess|base|order|sort|double-check|confirm|verify|compare|count|calculate|set|switch|change|jump|ramble|drop)\b"
)
_SAID: Final = (
    r"(?:write|wrote|answer(?:ed)?|repl(?:y|ied)|respond(?:ed)?|explain(?:ed)?|describe[d]?|define[d]?|give|gave|show(?:ed)?|tell|told|use[d]?|keep|kept|put|make|made|spell(?:ed)?|spelt|format(?:ted)?|sign(?:ed)?|quote[d]?|quiz(?:zed)?|talk(?:ed)?|speak|spoke|address(?:ed)?|refer(?:red)?"
    r"|list(?:ed)?|number(?:ed)?|stick|stuck|skip(?:ped)?|avoid(?:ed)?|leave|left|drop(?:ped)?|omit(?:ted)?|cut|include[d]?|add(?:ed)?|mention(?:ed)?|cite[d]?|start(?:ed)?|begin|began|end(?:ed)?|open(?:ed)?|close[d]?|lead|led|present(?:ed)?|translate[d]?|convert(?:ed)?|express(?:ed)?|phrase[d]?"
    r"|word(?:ed)?|structure[d]?|break|broke|split|summari[sz]e[d]?|correct(?:ed)?|point(?:ed)?|highlight(?:ed)?|bold(?:ed)?|draft(?:ed)?|indent(?:ed)?|comment(?:ed)?|name[d]?|suggest(?:ed)?|recommend(?:ed)?|offer(?:ed)?|assume[d]?|treat(?:ed)?|check(?:ed)?|ask(?:ed)?|warn(?:ed)?|remind(?:ed)?"
    r"|flag(?:ged)?|challenge[d]?|push(?:ed)?|limit(?:ed)?|round(?:ed)?|label(?:led|ed)?|say|said|walk(?:ed)?|go|went|do|did|stop(?:ped)?|quit|hold|held|save[d]?|spare[d]?|bring|brought|repeat(?:ed)?|apologi[sz]e[d]?|plan(?:ned)?|send|sent|call(?:ed)?|guess(?:ed)?|disagree[d]?|argue[d]?|be|were|got)\b"
)
"""What the assistant does or did, as after "if you"."""
_DOING: Final = (
    r"(?:writ|answer|reply|respond|explain|giv|show|tell|us|keep|putt|mak|spell|format|sign|quot|talk|speak|address|referr|list|number|skipp|includ|add|mention|cit|start|beginn|end|open|clos|lead|translat|convert|phras|structur|break|summari[sz]|correct|point|highlight|suggest|recommend"
    r"|offer|assum|treat|check|ask|warn|remind|flag|challeng|push|round|say|apologi[sz]|repeat|prais|compliment|lectur|call|sugar-?coat|preach|interrupt|plan|send|leav|avoid|throw|thank|greet|wish|congratulat|stick|try|double-check)ing\b"
)
_WHEN: Final = r"(?:when(?:ever)?|while|any ?time|every ?time|each time|if|before|after|unless|until|wherever)"
_OCCASION: Final = (
    rf"\b{_WHEN} (?:i(?:'m)? (?:ask|say|mention|tell|write|talk|speak|want|need|bring|request|share|paste|send|show|post|upload|seem|sound|complain|get (?:something|a word|anything)|make (?:a )?mistakes?|am\b|asking|talking|writing|complaining|working|feeling|(?:in|on|at) )"
    rf"|(?:we|the two of us) (?:talk|discuss|speak|chat|touch|work|plan|review|code)|you(?:'re| are|'ve| have)? ?(?:not sure|unsure|guessing|{_SAY}|think|don'?t know|aren'?t|can'?t|helping|{_DOING}|help|finish|notice|create|generate|review|edit|proofread|disagree|come up))"
)
"""In the present, "when I ask about ...", "if you're not sure"."""
_MADE: Final = rf"(?:(?:anything|everything|whatever|what|(?:the |any |all |all the |every |each |my )?{_MODIFIER}\w+) (?:that )?you (?:'?ll )?(?:give|make|write|show|send|draft|suggest|recommend|offer|plan|bring|create|produce|say|tell|do|generate|quote|list|put|propose|cook up|design)\b)"
"""What the assistant makes, in the present: "the charts you make me"."""
_MINE: Final = rf"(?:\b(?:my|our|your) (?:\w+ )?{_OUTPUT}|\b{_MADE}|\b{_OUTPUT} (?:from you|for me|to me))"
_TO_ME: Final = r"\b(?:with|to|around) me\b(?= *(?:$|[,.;!)]|as\b|like\b|in\b|when\b|if\b|about\b|please\b|and\b|rather\b|instead\b|for\b|on\b|by\b|using\b|at\b))"
_GENERAL: Final = rf"(?:{_OCCASION}|{_MINE}|{_TO_ME}|\bfrom you\b)"
_ABOUT_FORM: Final = rf"(?:{_GENERAL}|\b{_MANNERISMS}|\b{_FORM}|\b{_OUTPUT}|\b{_DATA}|\bon me\b)"
_GOOD: Final = (
    r"(?:(?:a )?(?:really |so |very |much |far |way |a lot |a bit |a little |bit |lot |most |super |quite |just |more |probably |always |even |rather )*"
    r"(?:great|nice|good|helpful|lovely|best|better|easier|easiest|ideal|useful|appreciated|wonderful|handy|handier|kinder|clearer|fantastic|perfect|awesome|neat|preferable|wise|safer|quicker|faster|simpler|helps?|comfortable|happier|happy|grateful|glad|thankful|cool|sweet|relief|plus|pleasant|nicer|clever|smart))"
)
_REPLIES: Final = r"(?:answers|replies|responses|explanations|summaries|suggestions|recommendations|instructions|translations|corrections|reminders|bullet[ -]points|bullets|paragraphs|lists|tables|headings|emojis|exclamation (?:marks|points)|abbreviations|acronyms|jargon|slang|markdown|disclaimers|warnings|caveats|compliments|pep talks|small talk|flattery|metric|celsius|fahrenheit|walls? of text|long texts?|long messages|code comments|citations)\b"
"""What hardly anybody but an assistant gives in such numbers that one speaks of it in general."""
_SO: Final = r"(?:and |but |so |also |honestly,? |personally,? |i think |i guess |i feel |maybe |really,? )*"
_YOURS: Final = rf"(?:\byour {_MODIFIER}(?:{_REPLIES}|code|recipes|messages|e-?mails|examples)|\b{_REPLIES} (?:to me|from you|you)\b|\b\w+ from you\b|\b{_WHEN} you (?:explain|write|answer|reply|respond|list|quote|summari[sz]e|recommend|suggest|format|draft|translate|phrase|describe|define|repeat|apologi[sz]e)\b)"
"""What the assistant makes or does, whoever is the subject."""
_JUDGED: Final = (
    r"\b(?:should|could|would|(?:it|that|they|i)'d|easier|better|best|clearer|prefer|rather|ideally|fewer|less|shorter|simpler|slower|longer|too (?:long|short|much|many|formal|fast|wordy|technical|stiff|dense|vague|complicated|cheerful|salesy)|a bit much|unnecessary|pointless|annoy\w*|distract\w*|confus\w*|overwhelm\w*|irritat\w*"
    r"|patroni\w*|enough|plenty|suits?|loses? me|lost|works? (?:best|better|well|for)|goes a long way|never hurts?|wouldn'?t hurt|welcome|crazy|mad|nuts|nerves|the wrong way|off[ -]putting|puts? me off|not necessary|don'?t need|no use|can'?t (?:follow|read|see)|hard (?:for me )?to|tired of|wish|hoping|hope)\b"
)
"""How somebody finds it, or would like it."""

RULES: Final = (
    # orders about form: "Use metric units", "Write in short paragraphs", "Show me code as diffs"
    InstructionPattern("form", rf"{_PLEASE}(?:(?:{_NOT} |avoid |stop )?(?:use|using|stick (?:to|with)|include|including|prefer|add|adding|put|give me|show me|write in|write with|skip|avoid|favou?r|leave out|default to|rely on|relying on)|no|only) (?:the |any |your |a (?!(?:bit|little|few|couple)\b))?{_MODIFIER}{_FORM}(?! (?:for|of|from|about|on|to (?!me)) (?!me\b|my\b|anything|everything|numbers|all|any|units|code)|.*\b(?:paragraph|sentence|verse|file|loop|function)\b)", plain=True, once=True),
    InstructionPattern("form", rf"{_PLEASE}(?:{_NOT} )?(?:answer|reply|respond|write|speak|talk|explain|teach)(?: (?:to )?me| things| everything| stuff| concepts| back)*(?: \w+ly)? (?:in|with|as|using|without|by using) (?:the |your |a )?{_MODIFIER}(?:{_FORM}|{_OUTPUT})", plain=True, once=True),
    InstructionPattern("form", rf"{_PLEASE}(?:{_NOT} )?(?:give|show|tell|write|quote|list|put|spell|express|format|state|convert|keep|explain|round|present|mark|display|break|say|phrase|name|translate|do|make|define|introduce|abbreviate|capitali[sz]e)(?: me| us)? (?:all )?{_MODIFIER}(?:{_DATA}|{_OUTPUT})(?: down| out| up)?(?: (?:to|for) me)?,? (?:in|as|like|first|only|rather|instead|before|without|step|simply|clearly|slowly|briefly|short|simple|plain|vegetarian|vegan|to (?:the|one|two)|the \w+ way|with (?:me|{_MODIFIER}{_FORM}|open)|(?:to|for) (?!the|my|a|this)\w+$|at (?:the )?(?:end|top|start|beginning|bottom)|down|out\b)(?!.*\bfor (?:my|the|a|our)\b)", plain=True, once=True),
    InstructionPattern("form", rf"{_PLEASE}(?:give|show|suggest|recommend|offer|find|pick|tell)(?: me| us)? (?:(?:only|just|nothing but) {_MODIFIER}(?:\w+ss?s|{_OUTPUT})|{_MODIFIER}\w+s only)\b", plain=True, once=True),
    InstructionPattern("form", rf"(?:{_MODIFIER}(?:{_FORM}|{_OUTPUT})(?: only|,)+ (?:please|for me|with me)\b|(?:only|just) {_MODIFIER}(?:{_FORM}|{_OUTPUT}),? (?:please|for me|with me))", plain=True, once=True, first=True),
    # orders with an occasion, a listener, a contrast, or on what is mine and yours in general
    InstructionPattern("when you", rf"{_PLEASE}(?:{_NOT} |only |always |try (?:not )?to |feel free to |no need to )*{_SAY}(?! (?:up|going|me (?:know|posted)|it up)\b).*?{_OCCASION}", plain=True),
    InstructionPattern("with me", rf"{_PLEASE}(?:{_NOT} |only |try (?:not )?to |feel free to |no need to )*(?:use|write|spell|say|quote|keep|express|speak|talk|be|stick|stay|go|mix|format|put|do|act|swear|joke|call|address|mention|bring up|discuss|sugar-?coat|hold back|argue|apologi[sz]e)\b(?! (?:in touch|up|back|the)\b).*?{_TO_ME}", plain=True, weak=True),
    InstructionPattern("rather than", rf"{_PLEASE}(?:show|give|tell|quiz|teach|ask|correct|walk|guide|challenge|explain|let|test|point|send|offer|write|use|describe|suggest|recommend)\b(?! (?:me )?(?:a|an|the)\b).*?\b(?:rather than|instead of|and not|over) (?:just |simply |always |merely )*(?:{_DOING}|handing|solving|doing|guessing|fixing|full|whole|long|(?:the )?{_MODIFIER}(?:{_FORM}|{_OUTPUT}|{_DATA}))", plain=True, once=True),
    InstructionPattern("your replies", rf"{_PLEASE}(?:{_NOT} |only |stop |no need to )*(?:write|spell|keep|sign|format|put|add(?:ing)?|use|using|include|including|start(?:ing)?|end(?:ing)?|begin|open(?:ing)?|close|leave|limit|skip|avoid|rely|make|phrase|word|base|cut|mix|quote|change|changing|rewrite|rewriting|correct(?:ing)?|cc|mark|label|indent|comment|structure|prefer|stick|set|be)\b(?! (?:up|it|this|pushing|going|working|trying|at)\b).*?{_MINE}(?! (?:from|about|for|of) (?:the|my|a)\b)", plain=True, once=True),
    InstructionPattern("manners", rf"{_PLEASE}(?:{_NOT} |no need to |try not to |stop |quit )(?:be )?(?:over-?)?(?:sugar-?coat|hold back|lectur|lecture|flatter|prais|praise|hedg|hedge|moralis|moraliz|preach|patroni[sz]|coddl|coddle|baby|nag|apologi[sz]|overexplain|explain|beat around the bush|butter me up|pad|mince)(?:e|es|ing|ize)?\b(?! (?:what|why|how|it|yet)\b)", plain=True, once=True),
    InstructionPattern("manners", rf"{_PLEASE}(?:skip|drop|cut(?: out)?|lose|avoid|spare me|leave out|leave off|ditch|omit|stop with|enough with|enough of|less of|go (?:easy|light) on|hold|no(?: more)?|less|fewer|{_NOT} (?:do|bother with|use|give me|add|include)) (?:all )?(?:the |your |any |those |these |of )*{_MODIFIER}{_MANNERISMS}", plain=True, once=True),
    InstructionPattern("suggestions", rf"{_PLEASE}(?:{_NOT} (?:suggest|recommend|offer|propose|mention|bring up|push|sell|pitch|show|send|give)|(?:avoid|stop) (?:suggesting|recommending|offering|proposing|mentioning|bringing up|pushing|showing|giving))(?: me| us)?(?: to me)? (?:any |anything|stuff |things |{_MODIFIER}(?!(?:this|us|yes|his|news|always)\b)\w{{3,}}s\b|alcohol|pork|meat|fish|dairy|seafood|sugar|caffeine|coffee)", plain=True, once=True),
    InstructionPattern("suggestions", rf"{_PLEASE}(?:suggest|recommend|offer|give|show|pick|choose|find|plan|stick (?:to|with)|keep to|assume|propose)\b(?: me| us)? (?:only |just |strictly )*{_MODIFIER}(?:recipes|meals|dishes|options|alternatives|restaurants|ingredients|exercises|workouts|routes|books|movies|films|hotels|flights|examples|products|brands|substitutes|ideas|choices|activities)\b(?:$| *[,.!]| (?:only|please|for me|to me|that (?:are|don't|do not|i|can|use|avoid|fit|work)|without|with no|free of|under)\b)(?!.*\bfor (?:my|the|a|our)\b)", plain=True, once=True, first=True),
    InstructionPattern("treat me", rf"{_PLEASE}(?:{_NOT} )?(?:treat|address|think of|regard|consider|see|talk to) me (?:as|like|by|with)\b(?! to)", plain=True, once=True),
    InstructionPattern("treat me", rf"{_PLEASE}(?:(?:you (?:can|may|might|should|could) )?(?:as well |always |just |safely )*)?(?:assume|take it|presume|suppose|pretend)(?: that)? (?:i|we)(?:'m|'re| am| are| know| don't| do not| have no| use| live| already| can't| cannot| only|'ve never)\b(?! (?:going|right|wrong|there))(?!.*\b(?:\d{{3,}}|euros|dollars|years)\b)", plain=True, once=True, first=True),
    # wishes: "I'd rather you ...", "it would be better if you ...", "could you make a habit of ..."
    InstructionPattern("I'd rather", rf"(?:and |but |so |honestly,? |personally,? )*i(?:'d| would)? ?(?:really |much |actually |honestly |also |generally |still |quite |always |far |just |kinda |kind of |sort of )*(?:rather|prefer|like|love|appreciate|want|welcome|enjoy|need|wish|value|hope|trust|count on|rely on|am hoping|'m hoping|was hoping|(?:be|feel) {_GOOD})(?: it| them| things)?(?: much| more| better| most| a lot)?(?: that| if| when| for| to have)? you(?:'d| would| could| can|'ll| will| to|r)? ?(?:please |just |also |always |at least |mostly |not |didn'?t |did not |don'?t |do not |wouldn'?t |could )*{_SAID}.*?{_ABOUT_FORM}", plain=True, once=True),
    InstructionPattern("I'd rather", rf"i(?:'d| would) (?:really |much )*rather you (?:didn'?t|did not|not|just|{_SAID}).*", plain=True, once=True, weak=True),
    InstructionPattern("better if you", rf"(?!it(?:'s| is) (?:so |really |always )*(?:great|nice|good|wonderful|lovely|awesome|cool|sweet) when\b)(?:and |but |so |i think |i guess |i feel |maybe |honestly,? |i (?:really )?(?:find|think)(?: that)? )*(?:it|that|things)?(?:'d|'s|'ll| would| will| is| might| could| makes?| are)? ?(?:really |also |actually |probably |always |just |only )*(?:(?:be |mean |make )?(?:help|a lot|the world|much to me|{_GOOD})|mean|make)(?: me| us)?(?: .{{0,30}}?)? (?:if|when) (?:you|your|every|each|all|any|everything|anything)\b.*?(?:{_ABOUT_FORM}|\b{_SAID} (?:me|things)\b)", plain=True, once=True),
    InstructionPattern("better if you", rf"(?:and |but |so |honestly,? )*i (?:.{{0,12}}?)?(?:find (?:it|things|{_OUTPUT})|think (?:it|it's|it is)|understand|learn|follow|read|remember|concentrate|focus|cope|work|do|get on|get along|think|deal|absorb|take (?:things|stuff) in)\b.{{0,30}}?\b{_GOOD}(?: .{{0,20}}?)? (?:with|from|when|if|as) (?:(?:you|your|things|it|everything|{_OUTPUT}|{_FORM})\b|{_MODIFIER}(?:{_OUTPUT}|{_FORM}))", plain=True, once=True),
    InstructionPattern("could you", rf"(?:(?:can|could|would|will|might) you|(?:maybe |perhaps )?you (?:could|might)|would you mind|do you mind|how about you|is it possible for you to|may i ask you to|can i ask you to|mind)\b.{{0,20}}?\b(?:(?:make|get in(?:to)?) (?:it )?(?:a|the) (?:habit|point|rule)\b|(?:{_SAY}|{_DOING}|{_SAID}).*?{_OCCASION}|(?:try|aim|start|stop|stick|quit|avoid|keep|remember) .*?{_GENERAL})", plain=True, once=True, asking=True),
    InstructionPattern("could you", r"(?:make|try making|let's make) (?:it )?a (?:habit|point|rule) (?:of|to)\b", plain=True),
    InstructionPattern("you can drop", rf"(?!.*\b(?:again|as before)\b)(?:and |but |so |i think |i guess |honestly,? )*(?:you|u) (?:can|could|may|might|don'?t (?:really )?(?:have|need) to|do not (?:have|need) to|needn'?t|needn't)(?: (?:as well|just|safely|really|always|also|totally|happily|go ahead and|probably|feel free to))* (?:drop|skip|stop|leave (?:out|off)|spare me|lose|cut|ditch|omit|assume|take it|go easy|forget about|do without|be|keep|use|talk|speak|write|call|treat|explain|say|tell|give|ask|swear|disagree|correct|challenge|apologi[sz]e|add|include|end|start|warn|remind|repeat|thank|sugar-?coat|hold back|put|finish|list|mention)\b.*?(?:{_GENERAL}|\b{_MANNERISMS}|\bwith {_FORM}|\bin {_FORM}|\bevery (?:time|single|sentence|answer|reply|message)|\bin (?:front of|english)\b|\bi (?:won't|don't) (?:mind|miss|need|like))", plain=True, once=True),
    InstructionPattern("I don't need", rf"(?:and |but |so |honestly,? |really,? )*i (?:really |just |honestly |also )*(?:don'?t|do not|never|could do|can do|can'?t)(?: really| ever| actually)? (?:need|want|like|care for|enjoy|without|stand|find)(?: it)?\b.*?(?:{_GENERAL}|\b{_MANNERISMS})", plain=True, once=True),
    InstructionPattern("I don't need", rf"(?:and |but |so |honestly,? )*(?:i(?:'m| am) (?:really |just )?(?:not (?:a (?:big |huge )?(?:fan of|friend of)|keen on|fond of|into|comfortable with|crazy about)|tired of|sick of|allergic to|done with|over|thrown off by)|i get (?:lost|confused|annoyed|stressed|overwhelmed|put off|thrown)|i lose (?:the thread|track|focus)|it (?:really |kind of |always )*(?:bothers|annoys|bugs|confuses|stresses|distracts|irritates|throws|overwhelms|puts|makes) me|i struggle)\b.*?{_GENERAL}", plain=True, once=True),
    InstructionPattern("no need", rf"(?:there(?:'s| is|'s really| is really) )?(?:really )?no (?:need|point|reason) (?:for|to|in)\b.*?(?:{_GENERAL}|{_MANNERISMS}|\bevery (?:time|single|sentence|answer|reply|message))", plain=True, once=True, weak=True),
    InstructionPattern("feel free", rf"(?:please )?feel free to (?:{_SAY}|disagree|swear|joke|argue|tease|interrupt|criticise|criticize)\b.*?{_GENERAL}", plain=True, once=True, weak=True),
    InstructionPattern("I'd love", rf"i(?:'d| would) (?:really |also |much )*(?:love|like|prefer|appreciate|want|welcome|be happy)(?: to (?:get|have|see|read|hear|receive))?\b.*? (?:for|in|with|from|on|to) (?:all|every|each|any)\b.*?(?:\bi (?:bring|ask|send|share|show|have|make|give)|{_MINE}|\byou\b)", plain=True, once=True),
    InstructionPattern("I'd love", rf"i(?:'d| would)? (?:really |also |much |always |generally |just )*(?:love|like|prefer|want|need|appreciate|do better with|work better with|am happiest with|favou?r) {_MODIFIER}(?:{_OUTPUT}|{_FORM})\b.*?(?:{_GENERAL}|\b(?:to|over|rather than|instead of) {_MODIFIER}(?:{_OUTPUT}|{_FORM}|ones))", plain=True, once=True),
    InstructionPattern("better if you", rf"{_SO}(?:if|when) you (?:could|would|can|'d|always|only|just)?.*?{_SAID}.*?,? (?:that|it|i)(?:'d|'s| would| will| is)? (?:\w+ )?(?:be |make |mean |help|save|{_GOOD}).*", plain=True, once=True),
    InstructionPattern("could you", rf"(?:(?:is there (?:a|any) (?:way|chance)|would it be (?:ok|okay|possible|alright|too much)|any chance|can we|could we|may i ask|can i ask|how about|what if|why don'?t) .{{0,30}}?)\b(?:you|we|agree|keep|stick|skip|have)\b.*?(?:{_GENERAL}|\b{_FORM}|\b{_MANNERISMS})", plain=True, once=True, asking=True),
    InstructionPattern("I don't mind", rf"{_SO}(?:i (?:don'?t|won'?t|wouldn'?t) mind|it(?:'s| is) (?:perfectly |totally |absolutely |quite )?(?:ok|okay|fine|alright|enough)|i(?:'m| am) (?:perfectly |totally |quite )?(?:ok|okay|fine|happy|cool)|you(?:'re| are) (?:always |more than )?welcome to|you won'?t (?:offend|hurt|upset)|i won'?t be (?:offended|upset|hurt))\b.*?(?:{_GENERAL}|\bif you\b.*{_ABOUT_FORM}|\b{_MANNERISMS})", plain=True, once=True),
    InstructionPattern("the less the better", rf"{_SO}the (?:fewer|less|more|shorter|simpler|plainer|blunter|slower|briefer|longer) .*?\bthe (?:better|happier|easier|nicer|merrier)\b", plain=True, once=True, first=True),
    InstructionPattern("I could use", rf"{_SO}i (?:could|can|would|'d)? ?(?:really |always |often )?(?:use|do with|benefit from|need|rely on|count on|depend on)\b.*?(?:{_OCCASION}|\bfrom you\b)", plain=True, once=True),
    InstructionPattern("I think in", rf"{_SO}(?:i (?:only |really |just )*(?:think|work|cook|bake|measure|count|run|drive|live|learn|read|understand|speak|use) (?:only |best |better |everything )?(?:in )?{_MODIFIER}{_FORM}(?: (?:only|best|better))?|{_MODIFIER}{_FORM} (?:mean|means|say|says|are|is) (?:nothing|gibberish|meaningless|greek|chinese|useless|easier|easiest|hard|harder|lost)\b.*|i (?:don'?t|do not|can'?t|never) (?:really )?(?:understand|speak|do|use|read|think in|follow|get|know) {_MODIFIER}(?:miles|fahrenheit|celsius|ounces|pounds|cups|inches|feet|jargon|acronyms|abbreviations|markdown|tables|emojis?|slang))(?=.*\b(?:so|please|with me|from you|you)\b|[.!]*$)", plain=True, once=True, first=True),
    InstructionPattern("I like mine", rf"{_SO}i(?:'d| would)? ?(?:like|prefer|want|take|need|love) (?:my|all my|your) {_MODIFIER}{_OUTPUT} (?:to be |as |kept |with |without |in |\w+)", plain=True, once=True),
    InstructionPattern("I like mine", rf"{_SO}i(?:'m| am|'d be| would be) (?:a lot |much |most |more |really )*(?:happier|happiest|comfortable|at home|better off|used to|better with)(?: with| in| when| if| to)? .*?{_ABOUT_FORM}", plain=True, once=True),
    InstructionPattern("it matters", rf"{_SO}(?:it|what) (?:really )?(?:matters|means a lot|counts|is important|'s important|helps me|works for me)(?: most| best)?(?: to me| for me)?(?: is)? (?:that|when|if|is)\b.*?(?:{_GENERAL}|\b{_SAID}\b.*{_ABOUT_FORM})", plain=True, once=True),
    InstructionPattern("for me", rf"{_SO}(?:nothing|no|anything|everything|only) (?:.{{1,40}}?)\b(?:for|with) (?:me|us)\b,? (?:please|ever|at all|in general)[.!]*$", plain=True, once=True),
    InstructionPattern("for me", rf"{_SO}{_MODIFIER}{_REPLIES}(?: .{{1,40}}?)? (?:suit|suits|work|works|help|helps|lose|loses|confuse|confuses|overwhelm|overwhelms|tire|tires|bore|bores|annoy|annoys|irritate|irritates|distract|distracts|stress|stresses|scare|throw|throws|drive|drives|make|makes|go|goes|are (?:\w+ )?(?:easier|harder|better|best|hard|enough|plenty|too)|is (?:\w+ )?(?:easier|harder|better|best|hard|enough|plenty|too))\b.*\b(?:me|i|my)\b", plain=True, once=True, first=True),
    InstructionPattern("for me", rf"{_SO}(?:i (?:can'?t|cannot|don'?t|never) (?:eat|drink|have|touch|use|do)\b.*|.*\b(?:allergic|vegan|vegetarian|coeliac|celiac|diabetic|kosher|halal|colou?r-?blind|dyslexic|beginner|deaf|blind)\b.*)\b(?:when(?:ever)? you (?:{_SAY}|{_DOING}|'re)|in (?:mind|your)|for that|account|accordingly)\b.*", plain=True, once=True, first=True),
    InstructionPattern("about you", rf"(?=.*{_YOURS})(?=.*{_JUDGED})(?!.*\b(?:thanks|thank you|was|were|been|did|gave|sent|wrote|told|said)\b)", plain=True, once=True, weak=True, first=True),
    # what your output should be: "meal ideas from you should ...", "spoilers are a no-go with me"
    InstructionPattern("from you", rf"(?:and |but |so )*(?:any |all |the )?{_MODIFIER}\w+ (?:from you|you (?:give|make|write|show|send|suggest|recommend|plan|draft)(?: for| to)?(?: me)?|for me|to me) (?:should|must|need|needs|ought|has to|have to|had better|(?:is|are) (?:best|better|what|fine|more))\b", plain=True, once=True),
    InstructionPattern("from you", rf"(?:and |but |so )*{_MODIFIER}(?:{_MANNERISMS}|{_FORM}|{_OUTPUT}|\w+s) (?:is|are|aren'?t|isn'?t|do|don'?t|doesn'?t) (?:really |always |definitely |absolutely |just |strictly )*(?:a )?(?:no-?go|no-?no|off[ -]limits|taboo|off the table|unwelcome|not welcome|welcome|work|fine|okay|ok|lost|wasted|helpful|what)\b.*?\b(?:with|on|for|to) (?:me|us)\b", plain=True, once=True),
    InstructionPattern("from you", rf"i(?:'m| am)? ?(?:more |rather )?(?:of )?(?:an? )?.{{1,50}}? (?:kind|sort|type|person|guy|girl|gal|fan|learner|reader|man|woman)\b.*?{_OCCASION}", plain=True, once=True),
    InstructionPattern("I mean", rf"{_PLEASE}{_WHEN} (?:i|we) (?:say|talk about|mention|write|use|refer to|speak of|ask (?:about|for))\b.*?(?:\b(?:you can|you may|you should|i mean|i(?:'m| am) (?:talking|referring|thinking)|take it|assume|read it|it means|that means|it's|i(?:'d| would) (?:like|want)|i want|i(?:'m| am) (?:after|looking))\b)", plain=True),
)  # fmt: skip

PLAIN: Final = re.compile(
    rf"\b(?:me|my|your)\b|\bi\b.*\byou\b|\byou (?:can|could|may|might|don'?t|needn|want)|(?:can|could|would|will) you|\b{_WHEN} (?:you|i|we)\b|from you|\bif you\b|please|only|\b{_FORM}|\b{_MANNERISMS}|\b{_OUTPUT}|\b{_DATA}|over-?explain|sugar-?coat|hold back"
)
"""Without one of these no plain rule applies."""

POINTING: Final = re.compile(
    r"\b(?:this(?! (?:family|house|household|account|phone|country|town))|these|tonight|tomorrow|today|here(?! on)|above|below|attached|following|another|last (?:one|answer|message|time|night|week|month|year)|next (?:time|week|month|year|one)|yesterday|second|third|fourth|later|right now|for now|that (?:one|e-?mail|letter|paragraph|sentence|list|recipe|text|essay|report|answer|file)"
    r"|(?:the|my) (?:first|last|whole|rest|previous|final|two|three|four|next|new|old|other) \w+|saturday|sunday|monday|tuesday|wednesday|thursday|friday|the weekend|do (?:it|that)|did (?:it|that)|on it|of it|in it|(?<!you )(?:give|show|tell|find|send|suggest|recommend|write|name|list|draft)(?: me)? (?:\d+|a|an|one|two|three|four|five|six|ten|some|more|another|the)\b(?! (?:\w+ ){0,2}(?:before|after|summary|of caution|when|if))"
    r"|soon|see you|meet you|miss you|love you|hope you|your (?:mom|dad|mum|friend|husband|wife|family|kids|trip|day|birthday|party|wedding|house|place|life|job))\b"
)
"""A word for what is before us now: a request that has one is for this once."""
