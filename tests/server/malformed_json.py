"""Bodies that are no JSON which everybody reads alike."""

from __future__ import annotations

DEEP = b'{"query":' + b"[" * 70 + b"]" * 70 + b"}"
DEEPEST = b'{"query":' + b"[" * 200_000

MALFORMED = {
    "nothing closed": b'{"query": "x"',
    "no JSON": b"query=x",
    "two documents": b'{"query": "x"} {"query": "y"}',
    "a comma too many": b'{"query": "x",}',
    "single quotes": b"{'query': 'x'}",
    "NaN": b'{"query": NaN}',
    "infinite": b'{"query": "x", "k": Infinity}',
    "beyond a double": b'{"query": "x", "k": 1e999}',
    "beyond 64 bits": b'{"query": "x", "k": 9223372036854775808}',
    "a number of many digits": b'{"query": "x", "k": ' + b"9" * 10_000 + b"}",
    "a name twice": b'{"query": "x", "query": "y"}',
    "a name twice below": b'{"query": "x", "where": {"tags": [], "tags": []}}',
    "half a character": b'{"query": "\\ud83d"}',
    "half a character in a name": b'{"query": "x", "\\udc00": 1}',
    "nested too deep": DEEP,
    "nested as deep as it goes": DEEPEST,
    "not UTF-8": b'{"query": "\xff\xfe"}',
    "UTF-16": '{"query": "x"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"query": "x"}',
    "a NUL": b'{"query": "\x00"}',
    "a NUL, escaped": b'{"query": "\\u0000"}',
    "a list": b'["query"]',
    "a string": b'"query"',
    "null": b"null",
}
