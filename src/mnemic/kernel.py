"""Every verb once, as a flow: it asks for a look, a commit or an erasure, and does nothing itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from mnemic.index.catalogues import Catalogues
from mnemic.index.standing import Standings
from mnemic.settings import Settings
from mnemic.verbs.branching import Branching
from mnemic.verbs.reading import Reading
from mnemic.verbs.recalling import Recalling
from mnemic.verbs.taking_back import TakingBack
from mnemic.verbs.transacting import Transacting
from mnemic.verbs.writing import Writing
from mnemic.writing import Desk


@dataclass(frozen=True, slots=True)
class Kernel(Writing, Transacting, TakingBack, Branching, Recalling, Reading):
    """The verbs, over one store's catalogues. Every method returns a flow."""

    desk: Desk
    catalogues: Catalogues
    settings: Settings
    standings: Standings = field(default_factory=Standings)
