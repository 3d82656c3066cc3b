"""Tells what somebody else than the user says of themselves, where people speak by name: "I moved to Bristol" of Nadia.

Only where the user speaks by a name of their own, so that "I" in what another name says is certainly not them. What is
said to the user, of them, of both or of things answers as it did: "I left the keys on the hook".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.tokens import tokenise
from mnemic.extract.sentences import written_sentences
from mnemic.extract.slots import slots
from mnemic.extract.speakers import names_user
from mnemic.recall.evidence import ASKING, MACHINES
from mnemic.recall.held_at import states_own
from mnemic.recall.polarity import asked_words, share_held
from mnemic.recall.whom_it_is_about import asks_of_self

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.queries import Recalled

_ASKS_OF_DEALINGS: Final = re.compile(
    r"\b(?:can|could|should|shall|will|would|must|need|me|we|us|our|told|promised|offered)\b|该|需要|可以|我们|咱",
    re.IGNORECASE,
)
"""Asks for what others may settle, or for more than the asker: "When should I be there?"."""
_I: Final = re.compile(r"\b(?:i|my|mine)\b|我(?!们)", re.IGNORECASE)
_WITH_USER: Final = re.compile(r"\b(?:you\w*|we|us|our|ours|let['’]s|both)\b|[你您]|我们|咱", re.IGNORECASE)


def without_selves_of_others(question: str, recalled: Sequence[Recalled], user: str) -> list[Recalled]:
    """What was recalled without what others by name say of themselves, where a question is about the user alone."""
    if not asks_of_self(question) or _ASKS_OF_DEALINGS.search(question):
        return list(recalled)
    if not any(names_user(_speaker(hit), user) for hit in recalled):
        return list(recalled)
    asked, called = asked_words(question), frozenset(tokenise(user))
    return [hit for hit in recalled if not (_is_another(hit, user) and _is_of_themselves(hit, asked, called))]


def _speaker(hit: Recalled) -> str:
    return str(hit.item.slots.get("speaker") or "").strip()


def _is_another(hit: Recalled, user: str) -> bool:
    """Whether a person by a name that shares nothing with the user's said it: "Sam Lee" may be Sam."""
    name, own = _speaker(hit).casefold(), user.casefold()
    words = set(tokenise(name))
    if not name or names_user(name, user) or not words.isdisjoint(MACHINES):
        return False
    alike = own in name or name in own
    return not alike and (not name.isascii() or words.isdisjoint(tokenise(own)))


def _is_of_themselves(hit: Recalled, asked: set[str], called: frozenset[str]) -> bool:
    """Whether whoever said it tells of their own state, and nothing else of the matter nor of or to the user."""
    stated = [sentence for sentence in written_sentences(hit.text) if not ASKING.search(sentence)]
    if any(_WITH_USER.search(sentence) or called & set(tokenise(sentence)) for sentence in stated):
        return False
    own = [sentence for sentence in stated if _tells_own_state(sentence, hit)]
    return bool(own) and not any(share_held(asked, other) > 0 for other in stated if other not in own)


def _tells_own_state(sentence: str, hit: Recalled) -> bool:
    if _I.search(sentence) and states_own(sentence):
        return True
    return bool(slots(sentence, "user", micros(hit.item.said), hit.item.said_offset))
