"""Every verb once, as a flow: it asks for a look, a commit or an erasure, and does nothing itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mnemic.derive.unread import UnreadRules
from mnemic.index.catalogues import Catalogues
from mnemic.index.standing import Standings
from mnemic.settings import Settings
from mnemic.verbs.artefact_keeping import ArtefactKeeping
from mnemic.verbs.branch_verbs import BranchVerbs
from mnemic.verbs.choosing import Choosing
from mnemic.verbs.doubting import Doubting
from mnemic.verbs.hand_editing import HandEditing
from mnemic.verbs.looking_up import LookingUp
from mnemic.verbs.note_taking import NoteTaking
from mnemic.verbs.taking_back import TakingBack
from mnemic.verbs.transacting import Transacting
from mnemic.writing import Desk

if TYPE_CHECKING:
    from mnemic.strategies.base import Strategy


@dataclass(frozen=True, slots=True)
class Kernel(
    Doubting, Choosing, Transacting, TakingBack, BranchVerbs, LookingUp, NoteTaking, HandEditing, ArtefactKeeping
):
    """The verbs, over one store's catalogues. Every method returns a flow."""

    desk: Desk
    catalogues: Catalogues
    settings: Settings
    followed: tuple[str | Strategy, ...] = ()
    standings: Standings = field(default_factory=Standings)
    unread: UnreadRules = field(default_factory=UnreadRules)
