"""What a session is opened on: its budget, its policy, and how far a question reaches into its window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mnemic.core.checking import numbers_of
from mnemic.tiers.base import Policy
from mnemic.tiers.pager import Marks
from mnemic.tiers.policies import checked_policy, open_policy
from mnemic.tiers.write_back import Writing


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How a question uses a session's window.

    Attributes:
        k: Most hits that are looked at.
        share: Most of the budget that one question may bring in, of pages that were not there.
        ahead: Hits whose neighbours are fetched ahead, as far as there is free room.
        earlier: Most of the budget that the segments in brief may take.
        longest: Most of the budget that one page may take; a longer one is shown in part.
    """

    k: int = 50
    share: float = 0.44
    ahead: int = 0
    earlier: float = 0.05
    longest: float = 0.25


MARKS: Final = Marks(evict=0.99, fresh=0.2)
"""Told at 0.75 and 0.9, evicting above 0.99 down to 0.7: as measured on dialogue (`mnemic bench session`)."""

WRITING: Final = Writing()
REACH: Final = Reach()
"""Likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a session is opened on.

    Attributes:
        budget, policy: None for those that the session had when it was written down last; a new one has the settings'.
    """

    budget: int | None = None
    policy: Policy | None = None
    marks: Marks = MARKS
    writing: Writing = WRITING
    reach: Reach = REACH


def terms(
    budget: int | None = None,
    policy: str | Policy | None = None,
    marks: Marks | None = None,
    writing: Writing | None = None,
    reach: Reach | None = None,
) -> Terms:
    """Check the terms that a caller asks for; a budget or policy of None leaves the stored one.

    Raises:
        Invalid: the policy is not known or is none, or a mark, writing or reach is no number.
    """
    return Terms(
        budget=budget,
        policy=None if policy is None else open_policy(policy) if isinstance(policy, str) else checked_policy(policy),
        marks=MARKS if marks is None else numbers_of(Marks)("marks", marks),
        writing=WRITING if writing is None else numbers_of(Writing)("writing", writing),
        reach=REACH if reach is None else numbers_of(Reach)("reach", reach),
    )
