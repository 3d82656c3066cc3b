"""Memories of others: each keeps the contract where its environment is made; one that fails ends as a row that says so."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.contestants import peer_contestant
from mnemic.lab.contestants.peer_contestant import PEERS, Peer, PeerContestant
from mnemic.lab.entries import contestants
from mnemic.lab.kit.contest import Limits
from mnemic.lab.kit.contestant import Contestant, Means
from mnemic.lab.kit.foreign_environment import ForeignEnvironment, PeerFailed
from mnemic.lab.kit.log import read
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import report
from mnemic.testing.contestant_contract import *  # noqa: F403

HERE = Path(__file__).parent
RUN = [peer for peer in PEERS if not peer.unfit]


@pytest.fixture(params=[pytest.param(peer, marks=pytest.mark.slow, id=peer.name) for peer in RUN], scope="module")
def contestant(request: pytest.FixtureRequest) -> Callable[[], Contestant]:
    """Each peer; one whose environment is not made below the home of whoever runs this is passed over."""
    peer: Peer = request.param
    if not peer.environment.is_made(peer_contestant.environments(Means().settings)):
        pytest.skip(f"its environment is not made: mnemic bench peers --install '{peer.name}'")
    return partial(PeerContestant, peer, Means(embedder="scripted:64"))
