"""The bytes of an event: no two headers alike, a seal that is HMAC, a commitment that hides and binds."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engram import chain

ONE, TWO = UUID(int=1), UUID(int=2)


@dataclass(frozen=True)
class Header:
    tenant_id: str = "t"
    stream_id: UUID = ONE
    position: int = 1
    event_id: UUID = TWO
    scope_id: int = 3
    role: str = "user"
    event_type: str = "user_message"
    trust: int = 1
    occurred_at: datetime = datetime(2024, 1, 1, tzinfo=UTC)
    recorded_at: datetime = datetime(2024, 1, 2, tzinfo=UTC)
    session_id: str | None = None
    task_run_id: UUID | None = None
    actor: str | None = None
    idempotency_key: str | None = None
    derive: tuple[str, ...] = ()
    hash_version: int = 1
    commitment: bytes = b"c" * 32
    prev_hash: bytes = bytes(32)


texts = st.text(max_size=4)
FIRST, LAST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2199, 12, 31, tzinfo=UTC)
moments = st.datetimes(FIRST.replace(tzinfo=None), LAST.replace(tzinfo=None), timezones=st.just(UTC))
headers = st.builds(
    Header, tenant_id=texts, stream_id=st.uuids(), position=st.integers(1, 2**63 - 1), event_id=st.uuids(),
    scope_id=st.integers(1, 2**63 - 1), role=texts, event_type=texts, trust=st.integers(0, 5), occurred_at=moments,
    recorded_at=moments, session_id=st.none() | texts, task_run_id=st.none() | st.uuids(), actor=st.none() | texts,
    idempotency_key=st.none() | texts, derive=st.lists(texts, max_size=3).map(tuple),
    hash_version=st.sampled_from([1, 2]), commitment=st.binary(min_size=32, max_size=32),
    prev_hash=st.binary(min_size=32, max_size=32),
)  # fmt: skip


@given(headers, headers)
def test_two_headers_never_have_the_same_bytes(one: Header, two: Header) -> None:
    assume(one != two)
    assert chain.encode(one) != chain.encode(two)


@given(headers, st.sampled_from(list(Header.__dataclass_fields__)), st.data())
def test_every_field_is_part_of_the_bytes(header: Header, name: str, data: st.DataObject) -> None:
    other = getattr(data.draw(headers), name)
    assume(other != getattr(header, name))
    assert chain.encode(replace(header, **{name: other})) != chain.encode(header)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"session_id": None}, {"session_id": ""}),
        ({"session_id": "x", "actor": None}, {"session_id": None, "actor": "x"}),
        ({"role": "ab", "event_type": "c"}, {"role": "a", "event_type": "bc"}),
        ({"derive": ("a", "b")}, {"derive": ("a,b",)}),
        ({"derive": ()}, {"derive": ("",)}),
        ({"actor": "\x00"}, {"actor": None}),
    ],
)
def test_what_could_be_confused_is_not(one: dict[str, object], two: dict[str, object]) -> None:
    assert chain.encode(Header(**one)) != chain.encode(Header(**two))  # type: ignore[arg-type]


def test_a_time_is_the_same_instant_in_every_zone() -> None:
    east = datetime(2024, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    assert chain.encode(Header(occurred_at=east)) == chain.encode(Header())


@given(st.binary(min_size=1, max_size=200))
def test_the_seal_is_hmac_sha256_under_the_streams_own_key(key: bytes) -> None:
    header = Header()
    own = hmac.digest(key, b"engram-stream" + header.stream_id.bytes, "sha256")
    assert chain.event_hash(header, chain.pads(key, header.stream_id)) == hmac.digest(
        own, chain.encode(header), "sha256"
    )
    assert chain.pads(key, UUID(int=9)) != chain.pads(key, header.stream_id)


def test_without_a_key_the_hash_is_plain_sha256() -> None:
    assert chain.pads(None, UUID(int=1)) is None
    assert chain.event_hash(Header(), None) == hashlib.sha256(chain.encode(Header())).digest()


def test_a_commitment_depends_on_salt_and_body() -> None:
    salt = chain.new_salt()
    assert chain.commitment(salt, b"yes") != chain.commitment(chain.new_salt(), b"yes")
    assert chain.commitment(salt, b"yes") != chain.commitment(salt, b"no")


def test_a_body_is_the_same_bytes_whatever_the_order_of_its_keys() -> None:
    one, two = chain.body("é", {"a": 1, "b": 2.0}, {"x": []}), chain.body("é", {"b": 2.0, "a": 1}, {"x": []})
    assert one == two
    assert chain.body("é", {"a": 1}, {}) != chain.body("é", {}, {"a": 1})
