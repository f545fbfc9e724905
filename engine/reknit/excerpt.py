"""What may be shown of foreign text: bounded, on one line, with secrets taken out.

Every note, error message and diagnostic that quotes what a vendor or a tool sent quotes it through here. The cut
comes before the search for secrets, so a quote from a huge value costs no more than one from a small value; and what
the cut leaves of a word at its edge is dropped, so that no secret shows its first half.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

MASK: Final = "[redacted]"
"""What stands where a secret stood."""

_MORE: Final = "…"
_DEPTH: Final = 32
_WORD: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~+/=*%@:"

# Every repeat below is bounded or follows a literal that it cannot match again: the search is linear in the text.

# `"api_key": "..."`, `\"password\": \"...\"` inside quoted JSON, `Authorization: Bearer ...`, `token=...`.
_FIELD: Final = re.compile(
    r"""(?isx)
    ( (?: api[-_]?key | access[-_]?key(?:[-_]?id)? | private[-_]?key | authorization | cookie | passw(?:or)?d | pwd
        | credentials? | secret(?:[-_](?:access[-_])?key)? | token )
      (?: \\{0,4}["'] )? \s{0,4} [:=] \s{0,4}
    )
    (?: (?P<escaped> \\{1,7}" ) (?: [^"\\] | (?! (?P=escaped) ) \\++ "? )* (?P=escaped)?
      | (?P<double> " ) (?: [^"\\] | \\. )* \\? "?
      | (?P<single> ' ) [^']* '?
      | (?! (?: null | true | false | none ) \b ) (?: (?: bearer | basic | token ) \s{1,4} )? [^\s"',;&{}\[\]()\\]+
    )
    """
)
_USERINFO: Final = re.compile(r"""(?<=://)[^\s/@"'<>\\]{1,512}@""")
_QUERY: Final = re.compile(r"""([?&](?:key|sig|signature|auth|code)=)[^&\s"'#<>\\]+""", re.IGNORECASE)
_SCHEME: Final = re.compile(
    r"\b((?i:bearer)\s{1,4})(?!(?i:tokens?|auth|authentication|authorization|realm|scheme)\b)[A-Za-z0-9._~+/=*-]{4,}"
    r"|\b((?i:basic)\s{1,4})(?=[A-Za-z+/]{0,512}[A-Z0-9=])[A-Za-z0-9+/=]{6,}"
)
_PRIVATE_KEY: Final = re.compile(r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,32}-----)?")
_KEY: Final = re.compile(
    r"""(?x) (?<![A-Za-z0-9])
    (?: [sprw]k [-_] [\w*-]{6,}
      | gh[a-z] _ \w{6,}
      | [a-z]{3,6} _pat_ \w{6,}
      | glpat - [\w-]{6,}
      | (?: xox[a-z] | x(?:ai|app) | nvapi | pplx | pypi ) - [\w-]{6,}
      | (?: hf | gsk | npm | whsec | r8 ) _ \w{8,}
      | AIza [\w-]{8,}
      | A[KS]IA [A-Z0-9]{6,}
      | ya29 \. [\w.-]{6,}
      | SG \. [\w-]{8,} \. [\w-]*
      | eyJ [\w-]{8,} (?: \. [\w-]* ){0,4}
    )"""
)

# Control characters, line and paragraph separators, what turns the direction of writing, and lone surrogates.
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def excerpt(value: object, limit: int = 160) -> str:
    r"""Quote a value: one line, at most `limit` characters, no secrets.

    Text and bytes are quoted as they are (bytes as UTF-8, with replacement), every other value as JSON. What does not
    print (control characters, line separators, lone surrogates) is written as an escape such as `\n` or `\ud83d`; a
    cut is marked with `…`.

    Args:
        value: Text, bytes, a JSON value, or anything else (which is then named by its type).
        limit: The longest result, in characters; the cost is in proportion to it, whatever the size of the value.

    Returns:
        The excerpt. Nothing is ever raised.
    """
    if limit <= 0:
        return ""
    room = 4 * limit + 256
    try:
        text = _head(value, room)
    except Exception:  # a foreign object may raise anything when it is looked at
        text = f"<{type(value).__name__}>"
    cut = len(text) > room
    if cut:
        # The edge may run through a secret too short to be known by now; anything longer than this is known.
        text = text[: room - 64] + text[room - 64 : room].rstrip(_WORD)
    line = _UNPRINTABLE.sub(_escape, redact(text))
    if cut or len(line) > limit:
        line = line[: limit - 1] + _MORE
    return line


def redact(text: str) -> str:
    """Replace what looks like a secret with `[redacted]`: keys, tokens, passwords, private keys.

    Known are the usual prefixes of keys (`sk-`, `ghp_`, `AKIA`, ...), JSON web tokens, `Bearer` and `Basic`
    credentials, the user part of a URL, secret query parameters, and the values of fields that are named like a
    secret. When in doubt, too much is replaced. The cost is linear in the text.
    """
    text = _FIELD.sub(_mask_field, text)
    text = _SCHEME.sub(lambda found: f"{found[1] or found[2]}{MASK}", text)
    text = _USERINFO.sub(f"{MASK}@", text)
    text = _QUERY.sub(rf"\1{MASK}", text)
    text = _PRIVATE_KEY.sub(MASK, text)
    return _KEY.sub(MASK, text)


def _mask_field(found: re.Match[str]) -> str:
    quote = found["escaped"] or found["double"] or found["single"] or ""
    return f"{found[1]}{quote}{MASK}{quote}"


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


def _head(value: object, room: int) -> str:
    """At least `room` characters of the value and one more, where it has them."""
    if isinstance(value, str):
        return value[: room + 1]
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value[: 4 * room + 4]).decode("utf-8", "replace")
    parts: list[str] = []
    _write(value, parts, room + 1, 0)
    return "".join(parts)


def _write(value: Any, parts: list[str], room: int, depth: int) -> int:
    """Write a value as JSON until the room is used up; returns the room that is left."""
    if depth > _DEPTH:
        text = _MORE
    elif isinstance(value, str):
        text = json.dumps(value[:room], ensure_ascii=False)
    elif value is None or value is True or value is False:
        text = {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, int):
        text = str(value) if value.bit_length() < 4096 else f"<integer of {value.bit_length()} bits>"
    elif isinstance(value, float):
        text = repr(value)
    elif isinstance(value, Mapping):
        return _write_all(value.items(), parts, room, depth, "{}")
    elif isinstance(value, list | tuple):
        return _write_all(value, parts, room, depth, "[]")
    elif isinstance(value, bytes | bytearray):
        text = json.dumps(value[:room].decode("utf-8", "replace"), ensure_ascii=False)
    else:
        text = f"<{type(value).__name__}>"
    parts.append(text)
    return room - len(text)


def _write_all(values: Any, parts: list[str], room: int, depth: int, brackets: str) -> int:
    parts.append(brackets[0])
    room -= 1
    comma = ""
    for value in values:
        if room <= 0:
            break
        parts.append(comma)
        if brackets == "{}":
            room = _write(value[0], parts, room, depth + 1)
            parts.append(": ")
            room = _write(value[1], parts, max(room, 1), depth + 1)
        else:
            room = _write(value, parts, room, depth + 1)
        comma = ", "
        room -= 2
    parts.append(brackets[1])
    return room - 1
