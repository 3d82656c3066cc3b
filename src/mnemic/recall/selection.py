"""Which of the evidence answers a question, if any of it does: a choice among all of it at once.

What bears most on a question may be out of date, what is newest of another matter, and what is nearest in meaning of
somebody else. Each of these tells something and none of them all, so a model weighs them together: how much an entry
bears on the question and what recall holds it for, what it shares with the question and with what bears most, whether
it was said later, what it does, whom it names, whether it holds what is asked for. Each entry has its odds, and so has
that none of them answers; together they make one. Learned by `python -m mnemic.lab.answer_training` with the weights of
`recall.sureness`, from ordinary lives, people who are taken for one another and cases of change alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
