"""What a Redis URL and the settings beside it become; nothing here connects."""

from __future__ import annotations

from redis.asyncio.connection import SSLConnection

from memory_core.adapters.redis.client import server


def test_rediss_means_tls_with_a_checked_certificate() -> None:
    pool = server("rediss://cache.example:10000/2")().connection_pool
    assert pool.connection_class is SSLConnection
    assert pool.connection_kwargs["ssl_cert_reqs"] == "required"
    assert pool.connection_kwargs["ssl_check_hostname"] is True
    assert (
        pool.connection_kwargs["host"],
        pool.connection_kwargs["port"],
        pool.connection_kwargs["db"],
    ) == ("cache.example", 10000, 2)


def test_a_password_given_apart_wins_over_the_urls() -> None:
    assert (
        server("redis://:old@cache.example")().connection_pool.connection_kwargs["password"]
        == "old"
    )
    assert (
        server("redis://:old@cache.example", password="new")().connection_pool.connection_kwargs[
            "password"
        ]
        == "new"
    )


def test_a_socket_path_is_taken() -> None:
    assert (
        server("unix:///run/redis.sock?db=1")().connection_pool.connection_kwargs["path"]
        == "/run/redis.sock"
    )
