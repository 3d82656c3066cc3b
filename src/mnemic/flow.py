"""Asking without doing: a flow yields requests and is sent answers, so its logic is written once for sync and async."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
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


@dataclass(frozen=True, slots=True)
class All(Request):
    """Several requests with nothing between them; answered by their outcomes, values or errors, in request order."""

    requests: tuple[Request, ...]


def name_of(flow: Flow[Any]) -> str:
    """What the function that made a flow is called."""
    return str(getattr(flow, "__name__", type(flow).__name__))


def run(flow: Flow[T], perform: Callable[[Request], Any]) -> T:
    """Drive `flow` to its return value, answering each request with `perform`; errors of an answer are thrown in."""
    try:
        request = next(flow)
        while True:
            try:
                answer = _outcomes(request, perform) if isinstance(request, All) else perform(request)
            except Exception as error:  # noqa: BLE001 - the flow decides what an error means
                request = flow.throw(error)
            else:
                request = flow.send(answer)
    except StopIteration as done:
        value: T = done.value
        return value
    finally:
        flow.close()


async def arun(flow: Flow[T], perform: Callable[[Request], Awaitable[Any]]) -> T:
    """`run`, awaiting each answer; cancelling it closes the flow."""
    try:
        request = next(flow)
        while True:
            try:
                answer = await (_gathered(request, perform) if isinstance(request, All) else perform(request))
            except Exception as error:  # noqa: BLE001 - the flow decides what an error means
                request = flow.throw(error)
            else:
                request = flow.send(answer)
    except StopIteration as done:
        value: T = done.value
        return value
    finally:
        flow.close()


def _outcomes(asked: All, perform: Callable[[Request], Any]) -> list[Any]:
    outcomes: list[Any] = []
    for request in asked.requests:
        try:
            outcomes.append(perform(request))
        except Exception as error:  # noqa: BLE001 - an error is an outcome here
            outcomes.append(error)
    return outcomes


async def _gathered(asked: All, perform: Callable[[Request], Awaitable[Any]]) -> list[Any]:
    import asyncio  # only who awaits pays for it

    return await asyncio.gather(*(perform(request) for request in asked.requests), return_exceptions=True)
