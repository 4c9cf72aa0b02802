from __future__ import annotations

from deployment import openapi


def test_the_kept_document_is_what_the_service_answers() -> None:
    assert openapi.FILE.read_bytes() == openapi.written(), (
        "`python -m deployment.openapi` writes it anew"
    )
