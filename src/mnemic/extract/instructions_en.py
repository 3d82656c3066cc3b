# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Standing instructions in English: clauses that tell the assistant how to behave from now on.

A rule is tried where a clause may begin. What makes a clause standing is a word for every time ("always", "from now
on", "whenever I ask") on a sentence without another subject: an imperative, or "I want you to". Narratives have a
subject ("he always says", "I never loved"), one-off requests have no such word; sayings ("never give up") are told
apart by their verbs.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.extract.instructions_plain_en import PLAIN, POINTING
from mnemic.extract.instructions_plain_en import RULES as _PLAIN_RULES
from mnemic.extract.patterns import InstructionPattern

__all__ = [
    "ATTRIBUTED",
    "BODILY",
    "BREAK",
    "CONDITION",
    "CUE",
    "LEAD",
    "NARRATED",
    "ONCE",
    "PLAIN",
    "POINTING",
    "REPORTED",
    "REPORTED_AFTER",
    "RULES",
    "SAYING",
    "STARTS",
]

_VERBS_WORDS: Final = """
answer reply respond write rewrite use give show tell call address start begin end finish open close include add put
cite mention check ask confirm verify send keep make format convert translate speak talk explain list suggest
recommend assume round remind warn alert notify double-check book schedule order buy purchase pay search provide
quote spell summarise summarize sign skip avoid leave refer treat link offer present run test commit push save store
record note bring discuss share reveal disclose say apologise apologize repeat wrap print return output prefer
choose pick default stick rely wake disturb bother nag ring highlight bold rank sort describe name label measure calculate count plan prepare propose
read review correct simplify shorten structure phrase base draft create generate mark drop omit hide cc copy attach
reference contact email message text ping post publish cancel delete remove move change edit update set switch stay
be act behave pretend consider factor follow respect obey cut limit round-up point flag tag track log report compare
interrupt second-guess praise flatter lecture moralise moralize criticise criticize tease joke swear sugarcoat
sugar-coat spoil guess invent fabricate estimate calculate route seat reserve recommend import install deploy merge
spend charge transfer store ship deliver forward assign invite accept decline reply-all
"""
_VERBS: Final = _VERBS_WORDS.split()
_VERB: Final = rf"(?:{'|'.join(sorted(set(_VERBS), key=len, reverse=True))})\b(?!-|')"
_NO_VERBS_WORDS: Final = """
i you he she it we they me him her us them my your his its our their mine this that these those there here who whom
whose which what when where why how whether if because since while although though until unless as than and or but
so yet nor a an the some any no not none all both each every either neither another other such same one two three
four five ten first second last next many much more most few fewer less least enough several of in on at by for from
with without into onto over under about after before between through during against among around near off out up
down to toward towards via per like unlike except despite is am are was were been being has had having does did
doing done will would shall should can could may might must ought need dare yes no yeah yep nope ok okay oh ah hey
hi hello wow thanks thank sorry congrats congratulations well right sure maybe perhaps really very too also even
still just only ever always never often sometimes usually again already soon now then today tomorrow yesterday
tonight once twice love loved enjoy hope hoped wish wished want wanted wanna gotta know knew known think thought
feel felt believe guess mean meant miss missed seem seems appreciate hate loved agree doubt suppose imagine wonder
hear heard see saw seen found went gone came got gotten took taken made gave given told said kept left met ran sat
stood spent lost won brought bought built taught caught felt grew knew wrote written drove ate drank slept spoke
broke chose began sent happy glad excited proud great good nice cool awesome amazing lovely wonderful perfect fun
beautiful lucky interesting true exactly definitely absolutely totally especially actually honestly seriously anyway
same best better worse worst new old big small little long short early late ready able nothing something anything
everything nobody somebody anyone everyone someone people things life time work music god man dude guys bro lol haha
hmm whatever whenever wherever however whoever plus minus let look wait take stay stop trust believe remember follow
chase dream laugh smile mind keep go come have get be do try help join visit cheer count thanks sounds looks let's
that's it's i'm i've i'd i'll you're you've you'll he's she's we're we've they're there's what's who's how's nice
welcome good-bye bye
"""
_NO_VERBS: Final = _NO_VERBS_WORDS.split()
_OPEN: Final = (
    rf"(?!(?:{'|'.join(sorted(set(_NO_VERBS)))})\b)(?!\w+(?:ed|ing)\b)(?!(?!re(?:p)?ly|apply|supply|comply|multiply)\w+ly\b)(?!\w*[^sui]s\b)[a-z][a-z-]+\b(?!')"
    r"(?! (?:and|is|was|has|had|will|would|are|were|of|who|that|which|i|we|he|she|they)\b)"
)
"""An imperative, by what it is not."""
_DOING: Final = (
    r"(?:us|call|add|end|start|beginn|ask|suggest|recommend|giv|send|apologi[sz]|repeat|includ|say|tell|putt|writ|mention"
    r"|remind|summari[sz]|prais|address|referr|round|translat|answer|reply|respond|show|explain|offer|sign|us|quot|link"
    r"|list|format|avoid|check|convert|speak|talk|bring|book|order|schedul|interrupt|lectur|spoil)ing"
)
_PLEASE: Final = r"(?:(?:please|pls|plz|kindly|just|simply|also|then|so|and|do)[, ]+)*"
_NOT: Final = r"(?:don'?t|do not|never)"
_THINGS: Final = (
    r"(?:answers|replies|responses|messages|explanations|summaries|suggestions|recommendations|e-?mails|texts|sentences"
    r"|lists|outputs?|reminders|conversations|chats|translations|reports|drafts|descriptions|estimates|instructions"
    r"|comments|notes|plans|itineraries|recipes|examples|code|sessions|requests|questions|tone|tasks)"
)
_ASKED: Final = (
    r"(?:(?:ever|also|just) )?(?:ask|say|mention|tell|write|send|paste|share|post|upload|request|type|show|give|bring up"
    r"|talk|speak|start|complain|seem|sound|forget|message|text|refer|use|switch|forward|want|need|order|am|'m|sign"
    r"|don'?t (?:say|specify|mention|ask|tell)|greet|address|quote|report|set|am looking|look for|come)\b"
)
_DONE: Final = (
    r"(?:answer|reply|respond|write|recommend|suggest|give|explain|summari[sz]e|quote|cite|book|order|plan|schedule"
    r"|draft|list|make|create|generate|code|translate|describe|talk|speak|refer|address|help|send|show|format|use"
    r"|mention|compare|propose|offer|are (?:not sure|unsure|writing|replying|answering|talking|done)|aren't sure"
    r"|don't know|do not know|disagree|search|remind|edit|correct|review|rewrite|calculate|estimate|report|add|finish|complete|start"
    r"|can't|cannot|make (?:a )?mistake)\b(?! (?:it|this|that|them|there|back|home|here|the chance)\b)"
)
_OFTEN: Final = r"(?:whenever|every ?(?:single )?time|each time|any ?time|everytime)"
_NOW: Final = (
    r"(?:from (?:now|here|today|this (?:point|moment|day|message))(?: on(?:wards?)?| forward| out| in|,)+"
    r"|(?:starting|beginning|effective) (?:from )?(?:now|today|immediately)|going forward|moving forward|henceforth"
    r"|hereafter|in (?:the )?future(?: \w+s\b)?|for (?:all |any )?future \w+|until (?:further notice|told otherwise|i change my mind|you hear otherwise)"
    r"|as (?:of|from) (?:now|today|this (?:moment|message|point))|from (?:this|the present) \w+ (?:on|onwards?|forward)|from (?:now|today)|hereon|henceforward|for the foreseeable future"
    r"|(?:until|till|unless) i (?:say|tell you|ask|specify|request|explicitly|specifically|state|mention)\b[^,]*"
    r"|for the rest of (?:our|this|the) (?:chats?|conversations?|time|project|sessions?))"
)
_WIDE: Final = (
    r"(?:at all times|by default|as (?:a|the|my) (?:general |standing |hard |firm )?(?:rule|default|standard|matter of course|habit)|as standard|in (?:all|every|any) (?:cases?|situations?|circumstances?|instances?)|on (?:every|each|any) occasion|without (?:exception|fail)|once and for all|for good|at no (?:point|time)|on no account|no matter (?:who|what|how|when|which)"
    r"|under no circumstances?|(?:in|for|to|with|across|on|of|from|include|start|end|begin|open|close|finish|keep|make|sign) (?:all|every|each|any)(?: (?:of )?(?:your|my|our|the))?"
    r"(?: \w+){0,2}? (?:you|your|answers?|repl(?:y|ies)|responses?|messages?|e-?mails?|code|conversations?|lists?"
    r"|summar(?:y|ies)|recommendations?|suggestions?|explanations?|documents?|questions?|recipes?|requests?|sessions?"
    r"|reports?|tasks?|topics?|chats?|trips?|drafts?|meals?|bookings?|purchases?|meetings?|projects?|feedback|dates?|prices?|numbers?|temperatures?|measurements?|figures?|times?|names?|links?|claims?)\b"
    r"|in everything you|(?:for|in|with) (?:anything|everything)\b|when(?:ever)? (?:you are |you're )?"
    r"(?:talking|speaking|writing|replying|responding|answering|chatting|messaging|addressing) (?:to |with )?me\b"
    r"|every single \w+)"
)
_EVER: Final = r"(?:all the time|invariably|each and every|every single time|permanently|forever|always|consistently|every ?time|each time|any ?time i)\b"
_TELL: Final = (
    rf"(?:{_PLEASE}(?:{_NOT} |always |only |avoid |stop |no |no more |try (?:not )?to |make sure|be sure|ensure|remember to"
    rf"|feel free|(?:always |ever )*{_VERB})"
    r"|you(?:'re to| are to| should| must| shall| need to| have to| may| shouldn't| mustn't| can't| cannot| can skip| can drop"
    r"| can assume| can leave| don't need| don't have| needn't)\b"
    r"|i(?:'d| would)? (?:really |also |much |only |always )*(?:like|want|need|prefer|expect|rather)\b"
    r"(?! to (?!see|get|hear|read|receive|be (?:called|addressed|asked|told|reminded|warned)))"
    r"|i (?:don't|do not|never) want (?!to (?!see|get|hear|read|receive|be))|let's (?:always|never|keep|use|stick)|(?:can|could|would|will) you\b)"
)
_DO: Final = rf"(?:{_TELL}|{_PLEASE}(?:{_OPEN}|(?:be|keep|take|let me|help me|stop|have) \w))"
"""What to do, where something before it has said that it is for good."""
_LANGUAGES: Final = (
    r"(?:english|french|spanish|german|italian|portuguese|chinese|mandarin|japanese|korean|dutch|polish)"
)

_ORDER: Final = (
    rf"{_PLEASE}(?:let's )?(?:{_NOT} (?:(?:under|in) (?:any|no) \w+ )?(?:{_VERB}|{_OPEN})|(?:always|never|only) (?:{_VERB}|{_OPEN})|(?:avoid|make sure|be sure|ensure|remember to|try to|take care to) \w"
    rf"|{_VERB}|keep \w)"
)
_STANDS: Final = (
    rf"(?:{_NOW}|{_WIDE}|(?<!i )(?<!you )(?<!he )(?<!she )(?<!they )(?<!we )(?<!it )(?<!who )(?<!'s )(?<!'ve )(?:always|never)(?! (?:been|be|had|have|seen|heard|quite))|under any|whenever|every ?time|each time|any ?time"
    r"|without (?:asking|checking|telling)|every \w+ you|all (?:the )?\w+ (?:that )?you|any \w+ you|(?:as|so) long as|for good|permanently"
    r"|(?:when|if|before|after) you (?:recommend|suggest|answer|reply|write|book|order|quote|explain|give|plan|draft|send)|(?:all|any of) my)\b"
)

_NO_NAME: Final = (
    r"(?:(?:back|when(?:ever)?|if|later|after|before|once|until|at|on|in|about|for|every|each)\b"
    r"|(?:an?|the) (?!(?:sir|madam|ma'am|captain|boss|doctor|doc|chef|professor)\b))"
)
"""What stands behind "call me" where no name does."""
_CALL_ME: Final = (
    rf"{_PLEASE}(?:{_NOW}[, ]*)?(?:{_PLEASE}|you (?:can|may|should) (?:just )?|i (?:go by|prefer) .*, so )?{_PLEASE}(?:always )?"
    rf"(?:call|address|refer to) me (?:just |only |simply |by |as |with )*(?!{_NO_NAME}|(?:only|by)\b)"
)
_NO_PART_OF_NAMES: Final = (
    r"(?:and|but|or|when(?:ever)?|while|if|in|on|at|by|for|from|with|until|unless|because|since|so|then|please|pls"
    r"|instead|always|never|same|going|as)"
)
_BESIDE_NAME: Final = (
    rf"(?:,? (?:please|pls|thanks|thank you|ok|okay|always|instead(?: of [\w' -]+)?|(?:and |or |but )*(?:not|nothing|never) [\w' -]+"
    rf"|or [\w'-]+|and so can [\w ]+|{_NOW}))"
)
_NOTHING_MORE: Final = (
    rf"(?= *$| *[^\w\s,;:'-]|[,;:] ?+(?!(?:and|but|then|also)\b|(?:in|with|without|no|only|be|stop|keep|short|brief)\b"
    rf"|\w+ only\b|(?!(?:don'?t|do not|never) (?:use|call|say)){_TELL}))"
)
"""Behind a name: nothing else is asked in the sentence."""

RULES: Final = (
    # a name, however long it is to hold: before the rules of what lasts, so that it takes the place of an older one
    InstructionPattern("call me", rf"{_CALL_ME}(?P<name>[\w_][\w_'.-]*(?: (?!{_NO_PART_OF_NAMES}\b)[\w_][\w_'.-]*){{0,4}}){_BESIDE_NAME}*{_NOTHING_MORE}"),
    # a name and something else, of which a newer name leaves the rest
    InstructionPattern("call me besides", rf"{_CALL_ME}(?P<name>[\w_][^,.!?;]*)"),
    InstructionPattern("when to call", rf"{_PLEASE}{_NOW}[, ]*{_PLEASE}(?:always )?call me {_NO_NAME}"),
    # "From now on, ..."; "..., from now on"
    InstructionPattern("from now on", rf"{_PLEASE}(?:{_NOW})[,:;]? *(?:{_DO}|please\b|\w+(?: \w+)? only\b|(?:only|just|no|all|any|every|each|your|my name)\b)"),
    InstructionPattern("from now on", rf"(?:{_TELL}|(?:be|keep|take|let me|help me|stop|have) \w).*?\b{_NOW}"),
    InstructionPattern("from now on", rf"{_PLEASE}{_OPEN}.*?\b{_NOW}", first=True),
    InstructionPattern("from now on", rf"{_PLEASE}{_NOW},? (?:can|could|would|will) you (?:please )?(?:{_VERB}|{_OPEN})", asking=True),
    InstructionPattern("from now on", rf"(?:can|could|would|will) (?:you|i)\b.*\b(?:{_NOW})", asking=True),
    InstructionPattern("from now on", rf"i(?:'d| would| will)? (?:like|want|prefer|need|expect)\b(?! to )[^,]*?\b(?:{_NOW})"),
    # "Whenever I ask ..., ..."; "... whenever I ask"
    InstructionPattern("whenever", rf"{_PLEASE}{_OFTEN} (?!you(?:'re| are| want| like| need| get| feel| can| have)\b)[^,]*?[,:] *(?:then )?{_DO}"),
    InstructionPattern(
        "whenever",
        rf"{_PLEASE}(?:{_OFTEN}|when|if) (?:i {_ASKED}|you {_DONE})(?:(?! i ).)*? (?:please|always|never|don'?t|do not|"
        rf"make sure|(?:give|show|tell|ask|remind|send) me|reply|answer (?:in|with|me)|respond|use|include|keep it|"
        rf"make (?:it|them|sure)|you (?:should|must))\b",
        once=True,
    ),
    InstructionPattern("whenever", rf"{_PLEASE}(?:when|if) (?:i {_ASKED}|you {_DONE})[^,]*?, *(?:then )?{_DO}", once=True),
    InstructionPattern("whenever", rf"{_PLEASE}(?:if|when(?:ever)?) (?:someone|anyone|anybody|somebody|people) \w+[^,]*, *{_DO}"),
    InstructionPattern(
        "whenever",
        rf"{_PLEASE}(?:when|while|before|after) (?:{_DOING}|drafting|coding|reviewing|correcting|proposing)\b[^,]*, *{_DO}",
        once=True,
    ),
    InstructionPattern("whenever", rf"{_PLEASE}{_OPEN}.*?\b(?:{_OFTEN}|when|if) (?:i {_ASKED}|you {_DONE})", once=True, first=True),
    InstructionPattern("whenever", rf"{_TELL}.*?\b(?:{_OFTEN}|when|if) (?:i {_ASKED}|you {_DONE}|we (?:chat|talk|speak|meet|start|begin))", once=True),
    InstructionPattern("whenever", r"(?:when(?:ever)?|if) i (?:say|write|type|mention) _[^,]*,? (?:i mean|it means|that means|what i mean)|by _[_ ]*,? i (?:always )?mean\b"),
    # "In all your answers ..."; "... in any code you write"
    InstructionPattern("in all", rf"{_PLEASE}{_WIDE}[^,]*?(?:[,:] *{_DO}| (?:please|always|never|don'?t|do not|make sure)\b)"),
    InstructionPattern("in all", rf"{_PLEASE}(?:by default|as a (?:general )?rule|in general)[,:]? .*\b(?:should|must|need to|ought)\b"),
    InstructionPattern("in all", rf"{_PLEASE}(?:{_NOT} (?:{_VERB}|{_OPEN})|(?:always|only) (?:{_VERB}|{_OPEN})|(?:avoid|make sure to|be sure to|remember to) \w|{_VERB}|be \w).+?\b(?:{_WIDE}|{_EVER})", once=True),
    InstructionPattern("always", rf"{_PLEASE}(?:permanently|forever|for good|consistently|invariably|once and for all|without (?:fail|exception)|on no account|at no (?:point|time)|under no circumstances|never again|in general|generally|by default)[, ]+{_DO}", first=True, weak=True),
    InstructionPattern("always", rf"{_PLEASE}(?:make it a (?:rule|habit|point) to|(?:as )?a (?:standing|permanent|general|hard|firm) (?:rule|request|instruction|order)[:,] ?)"),
    InstructionPattern("always", r"(?:i(?:'d| would)? (?:really |also |just |much )*(?:like|want|need|prefer|expect|ask)|i(?:'d| would) (?:really |much )*(?:appreciate|love|rather)|you(?:'re to| are to| should| must| need to| have to| ought to| can| may)|(?:can|could|would|will) you|would you mind)\b(?! (?:still|even|to (?!always|never)\w+ (?:a|the)\b)).{0,60}?\b(?:always|never|every (?:single )?time|each (?:and every )?time|any ?time|whenever|from (?:now|here) on|by default|at all times|permanently|for good)\b.*\b(?:me|my|i|i'm|you write|you answer)\b", weak=True, once=True, asking=True),
    InstructionPattern("whenever", rf"{_PLEASE}{_OFTEN} (?:i|i'm|we|we're|my|you|you're|there(?:'s| is))\b.*?(?<!s)(?<!you)(?<!they)(?<!people)(?<!i)(?<!to)(?<!we)(?<!he)(?<!and) (?:suggest|recommend|remind|include|add|(?:ask|tell|give|show|warn|send|nudge|stop|correct|quiz) me|answer in|reply in|keep it|point out|please)\b"),
    InstructionPattern("always", r"i (?:always|never|only ever) (?:ever )?(?:want|need|like|prefer|expect|wish)(?: to (?:see|hear|get|read|receive|be))?\b.*\b(?:you|your|from you)\b", weak=True, once=True),
    # "Always ...", "never ...", "don't ever ..."
    InstructionPattern("always", rf"{_PLEASE}(?:always|at all times) {_PLEASE}(?:{_VERB}|double)", weak=True, first=True),
    InstructionPattern("never", rf"{_PLEASE}(?:never,? ever|never|don'?t (?:you )?ever|do not ever|not ever) (?:again )?{_VERB}", weak=True, first=True),
    InstructionPattern("never", rf"{_PLEASE}(?:don'?t|do not) (?!be\b|tell me (?:it|that|you|he|she|they|we)|stop\b|let\b|take\b|change\b){_VERB}.* (?:ever )?again\b", weak=True, first=True),
    InstructionPattern("never", rf"{_PLEASE}(?:never,? ever|never|don'?t|do not) (?:{_VERB}|{_OPEN}).*\bever\b(?! (?:since|after|so)\b)"),
    InstructionPattern("always", rf"{_PLEASE}(?:always|never|never,? ever) {_OPEN}.*\b(?:me|my|mine)\b", weak=True, first=True),
    InstructionPattern("always", rf"(?:for|in|about|on|with|regarding|when it comes to) [^,:]+[,:] (?:please )?(?:i (?:only|always|never) (?:ever )?(?:want|need)|(?:only|always|never|no) (?:{_VERB}|\w+s\b))", weak=True, first=True, once=True),
    InstructionPattern("always", r"(?:it'?d|it would|it'?s|would) (?:be )?(?:really |much |very |so )*(?:great|nice|good|helpful|lovely|best|better|easier|ideal|useful|appreciated)[^,]*? if you (?:could |would |can )?(?:please )?(?:always|never|just|only|not|stop|kept|use)"),
    InstructionPattern("always", rf"you (?:should|must|are to|need to|have to|ought to) (?:always|never|only) {_VERB}", weak=True, first=True),
    InstructionPattern("always", r"i(?:'ve| have)? (?:already )?(?:told|asked) you (?:to (?:always|never|stop)|not to|never to|always to)"),
    InstructionPattern("always", rf"(?:can|could|would|will) you please (?:always|never) {_VERB}", asking=True),
    InstructionPattern("remember to", rf"{_PLEASE}(?:remember|don'?t forget|make sure|be sure|try|take care) (?:not )?(?:to )?"
         rf"(?:always|never) {_VERB}", weak=True, first=True),
    # wishes
    InstructionPattern("I want", r"i(?:'d| would)? (?:really |also |much )*(?:(?:like|want|need|expect|prefer|ask)(?: it)?(?: if)?|(?:love|appreciate) it if) (?:for )?you(?: would|'d)? (?:to )?(?:always|never|only|not to|not|stop|keep your|be more|be less"
         r"|call me|address me|be (?:brief|concise|direct|honest|blunt|formal|informal|polite|patient|critical|short))\b"),
    InstructionPattern("I want", rf"i(?:'d| would)? (?:like|want|need|expect|prefer|love|ask)(?: for)? (?:you to .*)?\b(?:all |that )?"
         rf"(?:your|every|each) {_THINGS}(?! (?:last|yesterday|earlier)\b)"),
    InstructionPattern("I prefer", r"i(?:'d| would)? (?:strongly |really |generally |much |always )*(?:prefer|favou?r|like|want|need) "
         r"(?:to (?:get|have|see|read|hear|receive) )?(?:my |short(?:er)?,? |brief |long(?:er)? |detailed |concise |plain |simple |direct |formal "
         r"|informal |blunt |honest |straight |and |but |clear |quick )*(?:answers|replies|responses|explanations|summaries)\b"),
    InstructionPattern("I prefer", rf"i(?:'d| would)? (?:prefer|like) (?:it )?(?:when|if) you {_DONE}"),
    InstructionPattern("I prefer", rf"i(?:'d| would) (?:much )?rather you (?:didn'?t|did not|not|always|never|stuck|used|kept|called) ?(?:{_VERB})?"),
    InstructionPattern("I don't want", rf"i (?:don'?t|do not|never) (?:want|like|need) you (?:to (?:ever )?(?:{_VERB})|(?:ever )?{_DOING})", weak=True, first=True),
    InstructionPattern("I don't want", rf"i (?:hate|don'?t like|dislike|can't stand) (?:it )?when you {_DONE}"),
    InstructionPattern("I don't want", r"i (?:don'?t|do not) (?:want|need) (?:to (?:see|hear|get|read|receive) )?(?:any |an? |the )?.*\b(?:from you|in your"
         rf" {_THINGS}|ever again)\b"),
    InstructionPattern("I want", r"(?:it(?:'s| is) (?:very |really )?(?:important|essential|crucial|vital)|i(?:'d| would)? (?:really )?(?:prefer|like|love|appreciate|insist|expect|ask)|i need|i want)"
         r"(?: to me)?(?: it)?(?: that| if)? you (?:to )?(?:always|never|only|not|don'?t|stop|ever|use|kept|keep|stuck)\b(?! \w+ing\b)"),
    InstructionPattern("always", rf"you (?:must(?:n't| not)?|may not|are not to|aren't to|are (?:not |never )?(?:allowed|permitted) to|are never to) (?:ever )?(?!be\b|act\b){_VERB}", weak=True, first=True, once=True),
    InstructionPattern("always", r"(?:(?!i |you |he |she |we |they |it )[a-z]+ ){1,3}always (?:in|as|with|to|at|on|under) .*\bplease\b", weak=True, first=True),
    InstructionPattern("whenever", rf"(?:when|if|where) (?:in (?:any )?doubt|unsure|uncertain|unclear|not sure)\b,? +{_DO}"),
    InstructionPattern("whenever", rf"if (?!you)[^,]*\b(?:ever|still|past|after|more than|over|above|below|under|less than|too|any\w*)\b[^,]*, {_PLEASE}(?:tell|ask|remind|warn|stop|show|give|nudge|alert|point) (?:me|it)\b", once=True, first=True),
    InstructionPattern("my people", rf"{_PLEASE}(?:always )?(?:refer to|address|call) my \w+(?: \w+)? (?:as\b|by\b|_|(?:just )?\w+(?: please)?[.!]?$)", first=True),
    InstructionPattern("in all", rf"{_PLEASE}(?:treat|keep|consider|regard|handle|use|write|show|give|translate|convert) (?:everything|anything|all|whatever) (?:of )?(?:i|that i|my|we|you)\b", once=True),
    InstructionPattern("always", rf"{_PLEASE}only {_VERB}", first=True, weak=True, once=True),
    InstructionPattern("in all", r"(?:every|each|all|any) (?:(?:one )?of )?(?:your |the |my )?(?:repl(?:y|ies)|answers?|responses?|messages?|e-?mails?|summar(?:y|ies)|lists?|recipes?|drafts?|reports?|reminders?)(?: you \w+| to me)? (?:should|must|needs? to|has to|have to|ought)\b"),
    InstructionPattern("bear in mind", r".*\b(?:keep|bear) (?:that|this|it) in mind (?:for|when|whenever|with|in)\b", first=True, once=True),
    # an order, and somewhere a word for every time
    InstructionPattern("in general", rf"(?!(?:tell|ask|remind|warn) (?:my|him|her|them|the|your)\b){_ORDER}.*?\b{_STANDS}", once=True, weak=True, first=True),
    InstructionPattern("in general", rf"(?:(?:as|so) long as|while|during|until|because|since) [^,]+, {_ORDER}(?!.*\byou (?:can|could|will|are|have)\b)", once=True, weak=True, first=True),
    # names
    InstructionPattern("pronouns", r"my (?:preferred )?pronouns are\b"),
    InstructionPattern("not called", rf"{_PLEASE}(?:stop calling|don'?t call|do not call|never call) me \w(?!hen)", weak=True, first=True),
    # how to write
    InstructionPattern("your replies", rf"{_PLEASE}(?:{_NOT} )?(?:keep|make|write|give|format|start|begin|end|sign|limit|put|use|include|avoid"
         rf"|base|phrase|leave|structure|open|close|finish|add|cut|drop|skip|spell|round|number)\b.*?\b(?:all )?your {_THINGS}\b(?! (?:last|from|about)\b)"),
    InstructionPattern("your replies", rf"{_PLEASE}(?:no|zero|less|fewer|more|only) [^,]*? (?:in|with|for|when|from) (?:any of )?(?:your|my|our) {_THINGS}"),
    InstructionPattern("your replies", r"(?:your |all )?(?:answers|replies|responses) (?:should|must|need to|have to|shouldn't|must not)\b"),
    InstructionPattern("your replies", rf"{_PLEASE}(?:talk|speak|write|reply|respond|stick) (?:to|with) (?:me (?:only )?(?:in|like|as)|{_LANGUAGES})\b", once=True),
    InstructionPattern("with me", rf"{_PLEASE}(?:{_NOT}|no need to|always|only|skip|avoid|drop|be|keep|stay) .*\bwith me\b(?! (?:today|tonight|tomorrow|to|on|at|in)\b)", weak=True, first=True),
    InstructionPattern("no more", rf"{_PLEASE}no (?:more )?(?:emojis?|emoticons?|jargon|slang|small ?talk|bullet points?|bullets|markdown|swearing|disclaimers?"
         rf"|exclamation marks?|apologies|filler|acronyms|abbreviations|tables|spoilers|hashtags|flattery|lectures)\b", once=True),
    InstructionPattern("no more", rf"{_PLEASE}(?:{_NOT}|avoid|stop|skip|drop) (?:use |using |put |putting |add |adding |any |the )*(?:emojis?|emoticons?|jargon|slang"
         rf"|small ?talk|bullet points?|markdown|disclaimers?|exclamation marks?|filler|acronyms|abbreviations|hashtags"
         rf"|flattery|pleasantries)\b", once=True),
    InstructionPattern("stop", rf"(?:please,? |just |and |also )*(?:stop|quit) {_DOING}\b(?! (?:for now|it)\b)", once=True),
    # privacy, consent, topics
    InstructionPattern("without asking", rf"{_PLEASE}(?:{_NOT}) {_VERB}.*?\b(?:without|unless you) (?:asking|checking|telling|consulting|ask|check|my (?:ok|okay|approval|permission|consent|say-so|explicit))"),
    InstructionPattern("without asking", rf"{_PLEASE}(?:always )?(?:ask|check with|consult|confirm with|get) (?:me|my (?:ok|okay|approval|permission|consent|go-ahead))\b"
         rf".*?\bbefore (?:you )?(?:ever )?\w+.*\b(?:any\w*|every\w*|each|all|money)\b"),
    InstructionPattern("in confidence", rf"{_PLEASE}(?:{_NOT}) (?:ever )?(?:share|reveal|disclose|give out|store|save|post|publish|pass on|hand out) (?:any (?:of )?)?my\b"),
    InstructionPattern("in confidence", rf"{_PLEASE}(?:{_NOT}) (?:ever )?(?:mention|bring up|talk about|discuss|remind me (?:of|about)) (?:my|the|any)\b", once=True),
    # what to bear in mind
    InstructionPattern("bear in mind", rf"{_PLEASE}(?:remember|keep in mind|bear in mind|don'?t forget|note|be aware|know)(?: that|,|:)* (?:i|my|we|our)\b.*?\b"
         rf"(?:when(?:ever)? you|when(?:ever)? {_DOING}|(?:in|for) (?:all|any|every|future)|recommending|planning|suggesting)"),
    InstructionPattern("bear in mind", rf"{_PLEASE}(?:remember|keep in mind|bear in mind|note|be aware)(?: that|,|:)* i(?:'m| am| have| can't| cannot| don't"
         rf"| do not| never| only| always| prefer| hate| need| use| speak)\b(?! (?:been|to (?:tell|go)|going|got|told|never|so (?:proud|happy)|here|always here|there))"),
    # recurring
    InstructionPattern("every day", r"(?:every|each|on) (?:single )?(?:morning|day|evening|night|week|month|weekday|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
         rf"(?: (?:morning|afternoon|evening|night|lunch|noon))?(?: at [^,]*)?,? {_PLEASE}(?:remind|ask|send|give|tell|show|check in|read|summari[sz]e)\b"),
    InstructionPattern("every day", rf"{_PLEASE}(?:remind|ask|send|give|tell|show) me\b.*\b(?:every|each) (?:single )?(?:morning|day|evening|night|week|month|weekday|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"),
    InstructionPattern("no exceptions", r"(?!(?:i|he|she|they|we|it)\b).*[,;] ?(?:no exceptions?|that(?:'s| is) (?:the|my|a) rule|(?:and )?keep it that way|as a standing rule|every single time|and that(?:'s| is) (?:final|that))[.! ]*$", weak=True, first=True, once=True),
    InstructionPattern("in this project", rf"{_PLEASE}(?:in|for|on|throughout) (?:this|our|my) (?:project|repo|repository|code ?base|codebase|code|house|household|team)\b,? (?!(?:i|we|he|she|they|it|there)\b).*\b(?:everywhere|always|never|no exceptions?|throughout|only|please|by default|use|keep|stick|it's)\b", first=True, once=True),
    InstructionPattern("without asking", rf"{_PLEASE}(?:wait for|get|ask for|seek|obtain) my (?:ok|okay|approval|permission|consent|go-ahead|say-so|word|nod|green light|confirmation) (?:first )?before (?:you )?\w+"),
    InstructionPattern("bear in mind", rf"{_PLEASE}(?:remember|keep in mind|bear in mind|note|be aware)(?: that|,|:)* i (?:take|like|drink|eat|love|go by|read|listen|work|learn)\b", weak=True),
    *_PLAIN_RULES,
)  # fmt: skip

BREAK: Final = re.compile(r"\Z")
"""Where the reach of a word for this once ends: only with the sentence."""

CUE: Final = re.compile(
    r"\b(?:always|never|ever|now on|here on|forward|future|henceforth|when|whenever|every|each|any|all|if|default|rule|unless|until|again|stop"
    r"|quit|call me|address me|refer to me|your|prefer|rather|no|only|don'?t|do not|please|from this|must|while|as long as|so long as|want|like|hate|without|before|with me|to me|my|emojis?|jargon|from today"
    r"|remember|bear in mind|keep in mind|note|markdown|slang|starting|told you|asked you|in general|exceptions?|project|repo|keep it|forget|everything|anything|drop|undo|ignore|scrap|need)\b"
)
"""Without one of these words no rule applies."""

LEAD: Final = re.compile(
    r"(?:[*_]{0,3}(?:(?:hi|hey|hello|dear) [\w-]+(?: [\w-]+)?(?=\s*[,:!])|ok(?:ay)?|oh|hey|hi|hello|yes|yeah|yep|so|and|but|also|well|right|alright|great|thanks(?: a lot| so much)?|thank you(?: so much)?|cool|good|nice"
    r"|perfect|lovely|awesome|btw|by the way|now|again|ah|actually|honestly|listen|look|important|reminder|for the record|in that case|then"
    r"|(?:and |oh,? |just )?(?:one|another|a|last|first)(?: more| last| other| small| quick| little| general| final)*(?: thing| request| rule| note| favou?r| point)?"
    r"(?: for (?:you|the future))?|rules?|quick (?:note|request)|(?:ground|standing|house|general|new|hard|golden|my) (?:rules?|instructions?|orders?)"
    r"(?: (?:for you|number one|from me|of mine))?|(?:my|the) (?:one )?rule(?: is)?|(?:just )?(?:a |an |one )?(?:quick |little |small |friendly |important |new |standing |general |permanent |hard )*(?:heads[ -]?up|note|requests?|reminder|fyi|ask|favou?r|tip|pet peeve|rule|rules|policy|ground rule|instructions?|thing)(?: for you| from me| though| to remember| going forward)?|ps|p\.s\.?|fyi|assistant|some house ?keeping|before (?:we|i) (?:start|begin|go on|forget|continue)"
    r"|to be clear|just so you know|while (?:we're|we are|i'm|i) (?:at it|here|think of it)|if you don't mind|if possible|for me|i mean|seriously|sorry"
    r"|(?:(?:so|now|and|but|please|just|always) )*(?:remember|nb|n\.b\.|attention|warning|caution|notice|please note|keep in mind|bear in mind|mind you|first(?:ly| of all)?|second(?:ly)?|third(?:ly)?|finally|lastly|e\.g\.|i\.e\.|from me|to repeat|once more|once again|again"
    r"|here we go|let's go|(?:so )?here(?:'s| is) (?:what i (?:want|need|ask|expect)|the (?:thing|deal|rule)|my (?:rule|request|wish|instruction))|(?:what|all) i (?:want|ask|need|expect|ask for)(?: (?:from|of) you)? is(?: this)?|the thing is|the rule is"
    r"|(?:my|our) (?:only |one |main |first )?(?:motto|wish|mantra|request|instruction|preference)(?: is)?(?: simple| this)?|let me (?:just )?(?:say|repeat|put|tell you)(?: (?:it|this|that))?(?: (?:again|once|once more|clearly|plainly))?)(?=[*_]{0,3}\s*[,:;.!—–-]))[*_]{0,3}(?:\s*[,:;.!—–-]+[*_]{0,3}\s*|\s+))+"
)  # fmt: skip
"""What people say before the instruction itself."""

STARTS: Final = re.compile(
    r"[,;:—–(] *|\s-+\s|--|\b(?:and|but|so|then|because|since)\b,? +|(?<!to)(?<!you)(?<!can) (?=(?:from (?:now|here) on|going forward|give me (?:only|\w+ only)|please (?:always|never|don'?t))\b)"
)
"""Where another clause may begin."""

CONDITION: Final = re.compile(
    r"(?:and |but |or |also )?(?:only |even |especially |just |except |not )*(?:on|in|at|for|during|when|whenever|if|while|after|before|with|within|without|about|unless|until|till|except|regarding|concerning|by|to|from|every|each"
    r"|where|wherever|once|outside|between|under|over|around|towards?|as (?:long|soon|far) as|as for|any ?time|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekdays?|weekends?|mornings?|evenings?)\b"
)
"""How a clause begins that says when, where or for what an instruction holds."""

_PAPER: Final = (
    r"\b(?:readme|docs?|documentation|manual|page|website|note|e-?mail|letter|article|sign|message|text|guide|instructions|prompt|spec|book|poster|label|ticket|comment|post|policy)"
    r" (?:\w+ )?(?:says?|said|reads?|states?|tells|told|claims?|claimed|instructs?|suggests?|recommends?|goes)\b"
    r"|^(?:according to|as per|per|quoting|to quote|in the words of)\b"
)
REPORTED: Final = re.compile(
    r"\b(?:said|says?|saying|told|tells?|telling|wrote|writes?|advice|advises?d?|warn(?:s|ed)?|insist(?:s|ed)?|taught|teach(?:es)?|motto|slogan|sign|mantra"
    r"|according|think|thought|believe|know|knows|remember when|quote|lyrics?|line|article|book|poster|reads|means?|why|how|that)\b[^,]*$"
    r"|\b(?:he|she|they|we|i|people|everyone|who)(?:'s|'re|'m|'ve|'d)?\b(?! (?:would|'d|want|need|prefer))[^,;:—–-]*(?:,? (?:and|but|then|or))? *$"
    rf"|{_PAPER}"
)
"""Before a clause: somebody else's words, or a subject that the clause goes on with."""

ATTRIBUTED: Final = re.compile(
    rf"{_PAPER}|\b(?:my|our|the|his|her|their) (?:\w+ )?\w+(?:'s \w+)?(?: always| often| once| used to)? (?:said|says|told|tells|wrote|insists?|insisted|wants?|wanted|hates?|likes?|loves?|prefers?|asked|asks)\b"
    r"|\b(?:he|she|they)\b|\bi (?:told|said|asked)\b"
    r"|^(?:thanks|thank you|(?:call|ring|text|phone) me (?:when|once|if|after|as soon|before|at)|i (?:really |just )?(?:love|loved|adore) (?:it )?when)\b"
)
"""Somewhere in a sentence: it is of others or of a paper, thanks, praise, or asks for a call."""

REPORTED_AFTER: Final = re.compile(
    r"[,_] *(?:he|she|they|people|everyone|my \w+|the \w+)(?: always| often| once| used to)? (?:said|says?|told|tells|warned|wrote|reads|goes|insists?)\b|\b(?:they say|so they say|apparently)[.! ]*$"
)
SAYING: Final = re.compile(
    r"\b(?:say never|give up|believ\w+|dream\w*|your (?:heart|gut|passion|instincts?|path|roots|life|mind|best|own)|yourself|be (?:proud|grateful|thankful|afraid|there|kind|happy|ready|able|ashamed|here)"
    r"|stop (?:believing|dreaming|learning|being|trying|exploring|growing)|look(?:ing)? (?:back|forward|for the)|for granted|los(?:e|ing) hope|forget (?:that )?(?:you|how|where|to)|who you are"
    r"|stay (?:positive|strong|true)|keep (?:going|fighting|pushing|up|in touch|trying|moving|growing|learning|smiling|that|it up|your head|your chin)|chase|shin(?:e|ing)|bring(?:s)? (?:me|us|a|back|joy)|let (?:them|him|her|it|anyone|anything|fear|go|the)"
    r"|make(?:s)? (?:me|us|time|it through|my day|people|the most)|put(?:s)? (?:a smile|me)|take (?:care|time|it)|count on|cheer|root(?:ing)?|hesitate|get old|say no|have to|open to|reminds? me|give(?:s)? me (?:a|hope|peace|joy|strength|so|the)|worth)\b"
)
"""What friends tell each other, and what is so in general; no order."""

ONCE: Final = re.compile(
    r"\b(?:this time|just this once|for now|today|tonight|tomorrow|this (?:one|e-?mail|letter|report|trip|week|weekend|evening|morning|afternoon|paragraph|text|recipe|essay|document|question|file|reply|answer|message|memo|speech|deck|post|flyer|form|tweet|draft|thread)"
    r"|right now|right away|next (?:week|month|time)|later|the following|above|below|i get (?:back|home|there)|you get (?:a chance|back|home|there))\b"
)
"""What a request for this once says."""

BODILY: Final = re.compile(
    r"\bfor my (?:\w+ )?(?:knees?|hips?|ankles?|shoulders?|back|legs?|foot|feet|heart|stomach|tummy|belly|lungs?|joints?|wrists?"
    r"|elbows?|neck|spine|tendons?|muscles?|calf|calves|body)\b"
)
"""What is enough or too much for somebody's body is no reply."""

NARRATED: Final = re.compile(
    r"(?:so |and |then |anyway,? |in the end,? )*(?:(?:i|we)(?:'ve| have)? )?(?:went|gone|switched|swapped|gave|dropped|quit|moved|returned"
    r"|tried|ended up)\b(?!.*\b(?:you|your|please|me|answer\w*|repl\w+|respon\w+)\b(?<!for me))"
    r"|.*\b(?:wasn't|weren't|was not|were not) (?:really |just |quite )?(?:for me|my thing)\b"
)
"""Tells what the speaker did, or how something suited them: no form of an order."""
