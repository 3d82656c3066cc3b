"""Asking without doing: a flow yields requests and is sent answers, so its logic runs without a store or a model."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")


class Request:
    """Something a flow needs to know or to have done; each kind is a small frozen value."""

    __slots__ = ()


Flow: TypeAlias = Generator[Request, Any, T]


@dataclass(frozen=True, slots=True)
class Pause(Request):
    """Nothing: whoever runs the flow may let others through. To be yielded about every millisecond of thought."""


def run(flow: Flow[T], perform: Callable[[Request], Any]) -> T:
    """Drive `flow` to its return value, answering each request with `perform`; errors of an answer are thrown in.

    Raises:
        TypeError: it is no flow, such as what a function without a `yield` returned.
    """
    if not isinstance(flow, Generator):
        raise TypeError(f"{type(flow).__name__} is no flow: a function is one if it holds a `yield`")
    try:
        request = next(flow)
        while True:
            try:
                answer = perform(request)
            except Exception as error:  # noqa: BLE001 - the flow decides what an error means
                request = flow.throw(error)
            else:
                request = flow.send(answer)
    except StopIteration as done:
        value: T = done.value
        return value
    finally:
        flow.close()
