from __future__ import annotations

import json

from deployment import openapi


def test_the_kept_document_is_what_the_service_answers() -> None:
    assert openapi.FILE.read_bytes() == openapi.written(), (
        "`python -m deployment.openapi` writes it anew"
    )


def test_what_a_docstring_says_of_an_attribute_describes_that_property() -> None:
    document = openapi.FILE.read_text(encoding="utf-8")
    assert "Attributes:" not in document
    schemas = json.loads(document)["components"]["schemas"]
    request = schemas["ConverseRequest"]
    assert request["description"] == "A conversation to be remembered."
    assert "time zone" in request["properties"]["time_zone"]["description"]
