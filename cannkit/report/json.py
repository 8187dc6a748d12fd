"""Documents as JSON text and as JSON Schema: the one place that imports pydantic.

The text comes from pydantic_core, which needs no schema for it: building one takes longer than all
the rest of a command. A test holds the text against the schema.
"""

from __future__ import annotations

import json
from typing import Any, overload

from pydantic_core import to_json

from cannkit.report.base import Document, ErrorEntry

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def entry_json(document: Document) -> bytes:
    """One document as a JSON object on one line, without its schema key."""
    return _named(to_json(document))


def line_json(document: Document) -> bytes:
    """One document as the whole answer of a step: on one line, with a line end."""
    body = _named(to_json(document))
    return b'{"schema":"%s",%s\n' % (document.SCHEMA.encode(), body[1:])


def document_json(document: Document) -> bytes:
    """One document as the whole answer of a command, indented, with a line end."""
    body = _named(to_json(document, indent=2))
    return b'{\n  "schema": "%s",%s\n' % (document.SCHEMA.encode(), body[1:])


@overload
def _named(text: bytes) -> bytes: ...
@overload
def _named(text: str) -> str: ...
def _named(text: bytes | str) -> bytes | str:
    """The key `class`, which no attribute can have; within a string its quotes are escaped."""
    if isinstance(text, bytes):
        return text.replace(b'"class_":', b'"class":')
    return text.replace('"class_"', '"class"')


def json_schema(kind: type[Document]) -> dict[str, Any]:
    """The JSON Schema of a command's answer: one document, many under `results`, or an error."""
    from pydantic import TypeAdapter

    entry = json.loads(_named(json.dumps(TypeAdapter(kind).json_schema(mode="serialization"))))
    definitions = entry.pop("$defs", {})
    name = {"const": kind.SCHEMA}
    one = {
        **entry,
        "properties": {"schema": name, **entry["properties"]},
        "required": ["schema", *entry["required"]],
    }
    many = {
        "type": "object",
        "properties": {
            "schema": name,
            "results": {"type": "array", "items": {"$ref": "#/$defs/entry"}},
        },
        "required": ["schema", "results"],
    }
    failed = {
        "type": "object",
        "properties": {"schema": name, "error": {"$ref": "#/$defs/ErrorEntry"}},
        "required": ["schema", "error"],
        "maxProperties": 2,
    }
    errors = TypeAdapter(ErrorEntry).json_schema(mode="serialization")
    errors_definitions = errors.pop("$defs", {})
    return {
        "$schema": DIALECT,
        "title": kind.SCHEMA,
        "anyOf": [one, many, failed],
        "$defs": {"entry": entry, "ErrorEntry": errors, **errors_definitions, **definitions},
    }


def schema_json(kind: type[Document]) -> str:
    """The JSON Schema as text with a line end."""
    return json.dumps(json_schema(kind), indent=2) + "\n"
