from __future__ import annotations

import hashlib
import re

from deployment.viewer import FILES, kept_content
from memory_core.functions.http_docs import FOLDER, VERSION


def test_the_kept_files_are_those_of_the_package_with_its_licences() -> None:
    assert {name: hashlib.sha256(kept_content(FOLDER, name)).hexdigest() for name in FILES} == FILES


def test_the_page_names_the_version_so_that_no_old_script_is_taken_from_a_cache() -> None:
    page = (FOLDER / "page.html").read_text(encoding="utf-8")
    assert set(re.findall(r"\?v=([0-9.]+)", page)) == {VERSION}
