"""Know the English words whose forms share no stem, so that "bought" is heard as an answer to "buy".

A stemmer takes endings off; these words change within. Each group is one word in its forms, as any grammar lists them.
Forms that are more often another word ("lay", "rose", "ground") are left out.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from mnemic.core.tokens import tokenise

_GROUPS: Final = """
become became, begin began begun, bend bent, bind bound, bite bit bitten, bleed bled, blow blew blown, break broke
broken, breed bred, bring brought, build built, burn burnt, buy bought, catch caught, choose chose chosen, come came,
cling clung, creep crept, deal dealt, dig dug, do did done does, draw drew drawn, dream dreamt, drink drank drunk,
drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found, flee fled, fly
flew flown flies, forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven, freeze froze frozen,
get got gotten, give gave given, go went gone goes, grow grew grown, hang hung, have had has, hear heard, hide hid
hidden, hold held, keep kept, kneel knelt, know knew known, lead led, lean leant, leap leapt, learn learnt, leave
left, lend lent, light lit, lose lost, make made, mean meant, meet met, mistake mistook mistaken, overcome overcame,
pay paid, ride rode ridden, ring rang rung, rise risen, run ran, say said, see saw seen, seek sought, sell sold, send
sent, sew sewn, shake shook shaken, shine shone, shoot shot, show shown, shrink shrank shrunk, sing sang sung, sink
sank sunk, sit sat, sleep slept, slide slid, smell smelt, sow sown, speak spoke spoken, spell spelt, spend spent,
spill spilt, spin spun, spoil spoilt, spring sprang sprung, stand stood, steal stole stolen, stick stuck, sting stung,
strike struck, swear swore sworn, sweep swept, swell swollen, swim swam swum, swing swung, take took taken, teach
taught, tear tore torn, tell told, think thought, throw threw thrown, understand understood, undergo underwent
undergone undergoes, undertake undertook undertaken, wake woke woken, wear wore worn, weave wove woven, weep wept, win
won, withdraw withdrew withdrawn, write wrote written, child children, man men, woman women, person people, foot feet,
tooth teeth, goose geese, mouse mice, ox oxen, wife wives, life lives, knife knives, half halves, shelf shelves, wolf
wolves, loaf loaves, thief thieves, calf calves, scarf scarves, good better best, bad worse worst, far further
furthest
"""


def other_forms(token: str) -> tuple[str, ...]:
    """The tokens of the other forms of a word, as `tokenise` makes them; () for one that only takes endings."""
    return _forms().get(token, ())


@cache
def _forms() -> dict[str, tuple[str, ...]]:
    groups = [list(dict.fromkeys(tokenise(group))) for group in _GROUPS.split(",")]
    return {token: tuple(other for other in group if other != token) for group in groups for token in group}
