"""Azurite as the tests and the Azure profile start it: what it keeps, and where it listens."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueClient

from tests.azurite_server import AzuriteServer
from tests.host import ROOT


@pytest.mark.parametrize("keeps_data", [True, False])
def test_it_comes_back_on_the_same_ports_with_what_it_was_told_to_keep(
    tmp_path: Path, keeps_data: bool
) -> None:
    server = AzuriteServer(tmp_path / "azurite" if keeps_data else None)
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
        with (
            QueueClient.from_connection_string(before, "formation") as queue,
            BlobServiceClient.from_connection_string(before) as blobs,
        ):
            names = [container.name for container in blobs.list_containers()]
            assert names == (["archive"] if keeps_data else [])
            if keeps_data:
                assert [message.content for message in queue.receive_messages()] == ["a task"]
                assert (
                    blobs.get_blob_client("archive", "a/b.gz").download_blob().readall() == b"cold"
                )
    finally:
        server.kill()


def test_a_message_that_was_just_accepted_outlives_a_killed_starter(tmp_path: Path) -> None:
    data = tmp_path / "azurite"
    command = [sys.executable, "-m", "tests.integration.azurite_child", str(data)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        line = starter.stdout.readline().strip()
        # its connection stays open, as a host's does
        with QueueClient.from_connection_string(line, "formation") as queue:
            queue.create_queue()
            for number in range(20):
                queue.send_message(f"task {number}")
            starter.kill()
            starter.wait()
            server = AzuriteServer(data)
            server.start()
    try:
        with QueueClient.from_connection_string(server.connection_string, "formation") as queue:
            contents = {message.content for message in queue.receive_messages(messages_per_page=32)}
        assert contents == {f"task {number}" for number in range(20)}
    finally:
        server.kill()
