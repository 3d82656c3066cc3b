"""Multiplies small matrices on the thread that asks.

BLAS hands a product above a certain size to threads of its own. That wins for large ones on an idle machine; on a busy
one the threads wait for one another, spinning, for hundreds of times what the product takes on one thread (24 passages
by 119 topics: LOG.md, 28 November 2026).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mnemic.core.uninterrupted import import_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

ON_ONE_THREAD: Final = 2**18
"""The most multiplications of one product that OpenBLAS does on the thread that asks."""


def small_product(rows: Floats, weights: Floats) -> Floats:
    """Multiply rows, (n, dims), by weights, (dims, columns), in pieces that BLAS shares out to no other thread.

    Returns:
        (n, columns).
    """
    step = max(1, ON_ONE_THREAD // max(1, weights.size))
    if len(rows) <= step:
        return rows @ weights
    import_whole("numpy")
    import numpy as np

    pieces: list[Any] = [rows[first : first + step] @ weights for first in range(0, len(rows), step)]
    return np.concatenate(pieces)
