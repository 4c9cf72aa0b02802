"""Azurite as the tests and the Azure profile start it: what it keeps, and where it listens."""

from __future__ import annotations

from pathlib import Path

import pytest
from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueClient

from tests.azurite_server import AzuriteServer


@pytest.mark.parametrize("kept", [True, False])
def test_it_comes_back_on_the_same_ports_with_what_it_was_told_to_keep(tmp_path: Path, kept: bool) -> None:
    server = AzuriteServer(tmp_path / "azurite" if kept else None)
    server.start()
    before = server.connection_string
    try:
        with (
            QueueClient.from_connection_string(before, "formation") as queue,
            BlobServiceClient.from_connection_string(before) as blobs,
        ):
            queue.create_queue()
            queue.send_message("a task")
            blobs.create_container("archive").upload_blob("a/b.gz", b"cold")
        server.stop()
        server.start()
        assert server.connection_string == before
        with QueueClient.from_connection_string(before, "formation") as queue, BlobServiceClient.from_connection_string(before) as blobs:
            names = [one.name for one in blobs.list_containers()]
            assert names == (["archive"] if kept else [])
            if kept:
                assert [one.content for one in queue.receive_messages()] == ["a task"]
                assert blobs.get_blob_client("archive", "a/b.gz").download_blob().readall() == b"cold"
    finally:
        server.kill()
