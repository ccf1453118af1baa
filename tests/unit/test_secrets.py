"""Secrets: found in what people and tools say, and not in what only looks alike."""

from __future__ import annotations

import base64
import json
import re
import string
import uuid
from itertools import pairwise
from pathlib import Path
from random import Random
from re import _parser  # type: ignore[attr-defined]

import pytest

from engram import InvalidInput, LimitExceeded, inputs, secrets
from engram.policies import patterns
from engram.secrets import WINDOW, Censor, find
from tests.growth import assert_linear

LETTERS, ALNUM = string.ascii_letters, string.ascii_letters + string.digits
HEX = "0123456789abcdef"
URL = ALNUM + "_-"


def some(random: Random, alphabet: str, many: int) -> str:
    made = "".join(random.choice(alphabet) for _ in range(many - 2))
    digit, letter = ("7" if "7" in alphabet else alphabet[0]), ("b" if "b" in alphabet else alphabet[1])
    return made[: many // 2] + digit + made[many // 2 :] + letter


def encoded(random: Random, value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def pem(random: Random) -> str:
    kind = random.choice(["RSA ", "EC ", "", "OPENSSH ", "ENCRYPTED "])
    body = "\n".join(some(random, ALNUM + "+/", 64) for _ in range(random.randint(3, 24)))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


def jwt(random: Random) -> str:
    head = encoded(random, {"alg": "HS256", "typ": "JWT"})
    return f"{head}.{encoded(random, {'sub': some(random, ALNUM, 12), 'iat': 1700000000})}.{some(random, URL, 43)}"


def card(random: Random) -> str:
    first, length = random.choice(
        [("4", 16), ("51", 16), ("55", 16), ("2221", 16), ("37", 15), ("6011", 16), ("3530", 16)]
    )
    digits = first + "".join(random.choice("0123456789") for _ in range(length - len(first) - 1))
    total = sum((2 * int(d) - 9 if int(d) > 4 else 2 * int(d)) if n % 2 == 0 else int(d)
                for n, d in enumerate(reversed(digits)))  # fmt: skip
    digits += str(-total % 10)
    between = random.choice(["", " ", "-"])
    if length == 15:
        return between.join((digits[:4], digits[4:10], digits[10:]))
    return between.join(digits[at : at + 4] for at in range(0, 16, 4))


def iban(random: Random) -> str:
    country = random.choice(["DE", "FR", "GB", "NL", "ES", "IT", "BE", "PL"])
    length = secrets._IBAN_LENGTHS[country]
    start = "ABCD" if country in ("GB", "NL") else ""
    rest = start + "".join(random.choice(string.digits) for _ in range(length - 4 - len(start)))
    check = 98 - int("".join(str(int(c, 36)) for c in f"{rest}{country}00")) % 97
    plain = f"{country}{check:02}{rest}"
    return plain if random.random() < 0.5 else " ".join(plain[at : at + 4] for at in range(0, length, 4))


MAKERS = {
    "private_key": pem,
    "jwt": jwt,
    "aws_access_key": lambda r: "AKIA" + some(r, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16).upper().replace("7B", "7Z"),
    "google_api_key": lambda r: "AIza" + some(r, URL, 35),
    "google_oauth": lambda r: r.choice(["GOCSPX-" + some(r, URL, 28), "ya29." + some(r, URL, 80)]),
    "github_token": lambda r: r.choice(["ghp_", "gho_", "ghs_"]) + some(r, ALNUM, 36),
    "gitlab_token": lambda r: "glpat-" + some(r, URL, 20),
    "slack_token": lambda r: f"xoxb-{r.randint(10**11, 10**12)}-{r.randint(10**11, 10**12)}-{some(r, ALNUM, 24)}",
    "slack_webhook": lambda r: "https://hooks.slack.com/services/"
    f"T{some(r, ALNUM, 8)}/B{some(r, ALNUM, 8)}/{some(r, ALNUM, 24)}",
    "stripe_key": lambda r: r.choice(["sk_live_", "rk_live_", "sk_test_"]) + some(r, ALNUM, 24),
    "anthropic_key": lambda r: "sk-ant-api03-" + some(r, URL, 95),
    "openai_key": lambda r: r.choice(["sk-", "sk-proj-"]) + some(r, ALNUM, 48),
    "sendgrid_key": lambda r: f"SG.{some(r, URL, 22)}.{some(r, URL, 43)}",
    "twilio_key": lambda r: "SK" + some(r, HEX, 32),
    "npm_token": lambda r: "npm_" + some(r, ALNUM, 36),
    "pypi_token": lambda r: "pypi-AgEIcHlwaS5vcmc" + some(r, URL, 60),
    "huggingface_token": lambda r: "hf_" + some(r, LETTERS, 34).replace("7", "k"),
    "telegram_token": lambda r: f"{r.randint(10**8, 10**10 - 1)}:AA{some(r, URL, 33)}",
    "mailgun_key": lambda r: "key-" + some(r, HEX, 32),
    "shopify_token": lambda r: "shpat_" + some(r, HEX, 32),
    "azure_key": lambda r: f"AccountName=boats;AccountKey={some(r, ALNUM + '+/', 86)}==;EndpointSuffix=core.local",
    "connection_string": lambda r: f"{r.choice(['postgresql', 'mysql', 'mongodb+srv', 'redis', 'amqp'])}://"
    f"app:{some(r, ALNUM + '!$*', r.randint(8, 24))}@db.internal:5432/main",
    "password": lambda r: f"{r.choice(['password', 'PASSWORD', 'api_key', 'SECRET_KEY', 'client_secret'])}"
    f"{r.choice([' = ', '=', ': '])}{r.choice(['', chr(34)])}{some(r, ALNUM, r.randint(12, 32))}",
    "assigned": lambda r: f"{r.choice(['export DB_PASS', 'APP_PASS', 'pass', 'pw'])}={some(r, ALNUM, 12)}!A",
    "token": lambda r: f"{r.choice(['TOKEN', 'CI_TOKEN'])}{r.choice(['=', ': '])}{some(r, HEX, 32)}",
    "curl": lambda r: f"curl {r.choice(['-u', '--user', '-sS -u'])} admin:{some(r, ALNUM, 10)} https://api.internal",
    "told": lambda r: f"my {r.choice(['password', 'passphrase'])} {r.choice(['is', 'was'])} {some(r, ALNUM, 9)}!Q",
    "card": card,
    "iban": iban,
}  # fmt: skip
KIND_OF = dict.fromkeys(("assigned", "token", "curl", "told"), "password")
AROUND = (
    "{}", "Here it is: {}", "export KEY={}", "use {} for staging, please", '{{"key": "{}"}}', "({})", "see `{}`.",
    "Tool said:\n{}\nand stopped", "my {}, keep it", "«{}»", "curl -H 'X-Key: {}' https://api.internal",
)  # fmt: skip


HARMLESS = (
    "password = os.environ['DB_PASSWORD']", "api_key: str | None = None", "token=get_token()", "PASSWORD=changeme",
    "password: <your password>", "secret = settings.secret_key", "postgresql://localhost:5432/engram",
    "https://user@example.org/a:b", "client_secret=${SECRET}", "Authorization: Bearer <token>",
    "git@github.com:ada/boat.git", "sk-learn is a library", "the key-value store",
    "api_key = settings.OPENAI_API_KEY", "api_key=config.openai_api_key_v2", "secret_key: settings.SECRET_KEY",
    "access_token = get_token_v2_from_cache(user)", "client = OpenAI(api_key=cfg.OpenAIKey1)",
    "password = form.cleaned_data.Password1", "password=hashlib.sha256(x).hexdigest()",
    "password = getPassword2From(user)",
    "password: validate_Password_Strength", "api-key: X-Api-Key-Header", "secret: /run/secrets/db_Pass1",
    "PRIVATE_KEY: ~/.ssh/id_rsa_2024", "access-key: github.com/Foo/Bar1", "http://localhost:8080@x.com/foo",
    "Authorization: docs/api/v2/authentication-overview-1", "the bearer 550e8400-e29b-41d4-a716-446655440000",
    "api_key=550e8400-e29b-41d4-a716-446655440000", "token = 550e8400-e29b-41d4-a716-446655440000",
    "TOKEN=$GITHUB_TOKEN", "next_page_token=9f8a7b6c5d4e3f2a1b0c9f8a7b6c5d4e", "token: engram.tokens.Tokenizer2",
    "curl -u $USER:$PASSWORD https://api.internal", "the password is required here", "the password was sha256-hashed",
    "encryption_key = self.keyring.Key2", "auth_token=request.headers[\"X-Auth-Token1\"]", "compass: North1EastWest",
    "npm_config_registry=https://registry.npmjs.org", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
)  # fmt: skip


def corpus() -> list[tuple[str, str]]:
    random = Random(20261122)
    return [
        (KIND_OF.get(kind, kind), random.choice(AROUND).format(maker(random)))
        for kind, maker in MAKERS.items()
        for _ in range(16)
    ]


def innocents() -> list[str]:
    """Texts of people and tools in which nothing is secret, many of them with what looks like it."""
    random = Random(7)
    words = "the boat keel mast sail red oak pine harbour captain storm letter token password key".split()  # noqa: SIM905
    code = [line for path in sorted(Path(secrets.__file__).parent.rglob("*.py")) if path.name != "secrets.py"
            for line in path.read_text().splitlines() if len(line) > 30]  # fmt: skip
    makers = [
        lambda: " ".join(random.choice(words) for _ in range(random.randint(5, 40))),
        lambda: f"event {uuid.UUID(int=random.getrandbits(128))} was appended",
        lambda: f"commit {some(random, HEX, 40)} by ada",
        lambda: f"sha256:{some(random, HEX, 64)}",
        lambda: f"md5 {some(random, HEX, 32)} of build-{random.randint(1, 999)}.tar.gz",
        lambda: f"at {random.randint(1_600_000_000, 1_800_000_000)}{random.randint(0, 999):03} ms",
        lambda: f"order {random.randint(10**9, 10**12)} of customer {random.randint(10**6, 10**8)}",
        lambda: f"call me at +49 {random.randint(30, 999)} {random.randint(10**6, 10**8)}",
        lambda: f"tracking number {random.randint(10**15, 10**16 - 1)}",
        lambda: f"see https://example.org/{some(random, ALNUM, 24)}?page={random.randint(1, 99)}",
        lambda: f"image data:image/png;base64,{some(random, ALNUM + '+/', 120)}",
        lambda: f"{random.choice(['password', 'token', 'secret'])} {random.choice(['reset', 'policy'])}",
        lambda: random.choice(HARMLESS),
        lambda: f"version {random.randint(0, 9)}.{random.randint(0, 20)}+g{some(random, HEX, 8)}",
        lambda: f"{random.choice(['DE', 'FR', 'GB'])}{random.randint(10, 99)} {random.randint(1000, 9999)} units",
        lambda: random.choice(code),
        lambda: "\n".join(random.sample(code, 12)),
    ]  # fmt: skip
    return [makers[number % len(makers)]() for number in range(4_000)]


def test_of_464_secrets_of_29_kinds_98_of_100_are_found_and_replaced_whole() -> None:
    made = corpus()
    assert (len(made), len(MAKERS)) == (464, 29)
    missed = [(kind, text) for kind, text in made if not any(one.kind == kind for one in find(text))]
    assert len(missed) <= 464 * 0.02, missed[:5]


def test_of_4000_innocent_texts_at_most_one_in_200_is_taken_for_a_secret() -> None:
    texts = innocents()
    wrong = [(text, find(text)) for text in texts if find(text)]
    assert len(texts) == 4_000
    assert len(wrong) <= 4_000 * 0.005, wrong[:5]


@pytest.mark.parametrize("text", HARMLESS)
def test_code_paths_and_names_are_no_secrets(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [("card", one) for one in ("4242424242424242", "4111 1111 1111 1111", "5555555555554444", "4012.8888.8888.1881")]
    + [("iban", one) for one in (
        "DE89-3704-0044-0532-0130-00", "de89370400440532013000", "gb29 nwbk 6016 1331 9268 19", "be68 5390 0754 7034",
        "fr14 2004 1010 0505 0001 3m02 606", "BE68 5390 0754 7034", "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
    )],
)  # fmt: skip
def test_numbers_of_few_digits_in_any_grouping_and_case_are_found_among_words(kind: str, text: str) -> None:
    for around in ("{}", "pay to {} and tell me", "It is {}.", "It is {}, or so"):
        said = around.format(text)
        assert [(one.kind, said[one.start : one.end]) for one in find(said)] == [(kind, text)]


@pytest.mark.parametrize(
    "text",
    ["4444444444444444", "0000 0000 0000 0000", "1234 5678 9012 3456", "4242424242424241", "4012.8888.8888-1881",
     "build 4012.8888.8888", "de89 3704 0044 0532 0130 01", "de12 main street 2024", "ab12-cd34-ef56-ab78",
     "be68 boats were sold in 2024"],
)  # fmt: skip
def test_what_only_looks_like_a_number_with_check_digits_stays(text: str) -> None:
    assert find(text) == []


# What stands in their place ------------------------------------------------------------------------------------------

TOKEN = "ghp_" + "aB3dE6gH9" * 4


def test_a_secret_is_replaced_and_what_is_around_it_stays() -> None:
    censor = Censor(key=b"key")
    said = censor.text(f"Use {TOKEN}, then postgresql://app:h4rbour!@db:5432/main.", "content")
    mark, other = secrets.MARK.findall(said)
    assert said == f"Use {mark}, then postgresql://app:{other}@db:5432/main."
    assert (mark[:22], other[:26]) == ("[secret:github_token:" + mark[21], "[secret:connection_string:")
    assert censor.notes == ("secret replaced: connection_string (1)", "secret replaced: github_token (1)")
    assert censor.text(said, "content") == said, "what was replaced is not replaced again"


def test_equal_secrets_have_equal_marks_under_one_key_and_none_without_one() -> None:
    first, other = Censor(key=b"one"), Censor(key=b"another")
    assert first.mark("card", "1") == first.mark("card", "1") != first.mark("card", "2")
    assert first.mark("card", "1") != other.mark("card", "1")
    assert Censor().mark("card", "1") == Censor().mark("card", "2") == "[secret:card:00000000]"


def test_a_refusal_names_the_place_and_the_kind_and_not_the_secret() -> None:
    with pytest.raises(InvalidInput, match=r"content: .*github_token") as caught:
        Censor("refuse").text(f"Use {TOKEN}", "content")
    assert TOKEN not in str(caught.value)
    assert Censor("allow").data({"a": [TOKEN]}, "payload") == {"a": [TOKEN]}


def test_what_is_refused_anyway_is_not_searched_and_what_is_cleaned_is_checked_again() -> None:
    refusing, token = Censor("refuse").checking(inputs.note), "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    with pytest.raises(LimitExceeded):
        refusing(f"{'x ' * 2_000} {token}", "reason")
    with pytest.raises(InvalidInput, match="github_token"):
        refusing(f"my {token}", "reason")
    assert Censor("redact").checking(inputs.note)(f"my {token}", "reason") == "my [secret:github_token:00000000]"
    with pytest.raises(LimitExceeded):  # a mark may be longer than what it replaces
        Censor("redact").checking(inputs.note)(f"{'x ' * 987} password=aB3$xyz9", "reason")


def test_data_is_cleaned_in_keys_and_depth_and_else_stays_what_it_is() -> None:
    given = {"list": [1, None, (TOKEN, {"deep": f"x {TOKEN}"})], TOKEN: True}
    mark = Censor().mark("github_token", TOKEN)
    assert Censor().data(given, "payload") == {"list": [1, None, (mark, {"deep": f"x {mark}"})], mark: True}
    deep: list[object] = [TOKEN]
    for _ in range(100):
        deep = [deep]
    assert Censor().data(deep, "payload") == deep, "what is too deep is refused by the door"


@pytest.mark.parametrize("key", [None, b"key"])
def test_two_secret_names_of_one_mapping_keep_both_their_values(key: bytes | None) -> None:
    other = TOKEN.replace("a", "c")
    cleaned = Censor(key=key).data({TOKEN: 1, other: 2, "plain": 3}, "metadata")
    assert sorted(cleaned.values()) == [1, 2, 3]
    assert not {TOKEN, other} & set(cleaned)
    assert Censor(key=key).data({"plain": 3, other: 2, TOKEN: 1}, "metadata") == cleaned, "in whatever order they come"


def test_a_name_that_is_like_a_mark_keeps_its_value_beside_a_secret() -> None:
    mark = Censor().mark("github_token", TOKEN)
    assert Censor().data({TOKEN: 1, mark: 2}, "metadata") == {f"{mark} 2": 1, mark: 2}


def test_own_patterns_are_kinds_too() -> None:
    own = (("ticket", re.compile(r"BOAT-[0-9]{6}")),)
    assert Censor(own=own).text("See BOAT-123456", "content") == "See [secret:ticket:00000000]"


def test_an_own_pattern_is_found_wherever_it_stands_in_a_long_text() -> None:
    own = (("ticket", re.compile(r"\bBOAT-[0-9]{6}\b")), ("first", re.compile(r"^KEEL-[0-9]+")))
    for place in (0, 1, WINDOW - 6, WINDOW, 2 * WINDOW - 6, 2 * WINDOW - 1, 5 * WINDOW - 11):
        text = f"{'x' * (place - 1)} BOAT-123456 and BOAT-1234567"[1 if place == 0 else 0 :]
        (found,) = find(text, own)
        assert text[found.start : found.end] == "BOAT-123456", place
    filler = "a " * (2 * WINDOW)
    assert [one.start for one in find(f"KEEL-1 {filler}KEEL-2", own)] == [0]
    long = find("B" * (5 * WINDOW), (("row", re.compile("B{3,}")),))
    assert (long[0].start, long[-1].end) == (0, 5 * WINDOW)
    assert all(before.end == after.start for before, after in pairwise(long))
    assert WINDOW == patterns.WINDOW


def test_the_time_of_an_own_pattern_grows_with_the_text_and_no_faster() -> None:
    own = (("mail", patterns.compile_safe(r"[a-z]+@corp")),)
    assert_linear(lambda text: find(text, own), "a", 20_000)


@pytest.mark.parametrize("size", [7, 1_000, 40_000])
def test_a_secret_that_lies_across_the_parts_of_a_long_text_is_found(size: int) -> None:
    random = Random(size)
    middle = [pem(random), TOKEN, card(random), jwt(random), "api_key = 'aB3dE6gH9jK2'"]
    filler = "\nThe keel is painted and the mast is pine.\n" * 400
    whole = filler.join(["", *middle, ""])
    parts = [whole[at : at + size] for at in range(0, len(whole), size)]
    cleaned = "".join(Censor().stream(parts, "text"))
    assert cleaned == Censor().text("".join(parts), "text")
    assert len(secrets.MARK.findall(cleaned)) == len(middle)


def test_looking_costs_no_more_than_in_proportion() -> None:
    traps = [
        "-----BEGIN PRIVATE KEY-----\n",
        "eyJ",
        "password=",
        "password is ",
        "token=aA1",
        "password: a_",
        "curl -u ",
        "a://",
        "xoxb-1-",
        "4111 1111 ",
        "AB12 CD34 ",
        "A1",
        "://a:",
    ]
    for trap in traps:
        assert_linear(find, trap, 40_000)


def test_no_kind_of_secret_is_shorter_than_the_texts_that_are_passed_by() -> None:
    for kind in secrets.KINDS:
        assert _parser.parse(kind.pattern.pattern, kind.pattern.flags).getwidth()[0] >= secrets.SHORTEST, kind.name
    assert [one.kind for one in find("pw='aB3$xyz'")] == ["password"]
    assert find("pw='a3xyz'") == []
    assert [one.kind for one in find("pin 12", [("pin", re.compile(r"pin \d+"))])] == ["pin"]
