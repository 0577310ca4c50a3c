"""The judge against real servers on this machine that do everything wrong."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from email.utils import formatdate
from typing import Any

import pytest

from jackfield.errors import UserError
from jackfield.testing.contracts import check_reward
from jackfield.types import Rollout, Verdict
from jackfield_judge.chat import completions_url
from jackfield_judge.endpoint import EndpointJudge

KEY = "sk-very-Secret-0123"


def made(server: Any, **keys: Any) -> EndpointJudge:
    url = server if isinstance(server, str) else server.url
    return EndpointJudge(**{"url": url, "model": "judge-1", "timeout": 10.0, "cache": False} | keys)


def judged(reward: EndpointJudge, rollouts: list[Rollout]) -> list[Verdict]:
    """As a run does it: prepared outside the loop, closed in it."""

    async def all_of_it() -> list[Verdict]:
        try:
            return await reward.judge_all(rollouts)
        finally:
            await reward.close()

    reward.prepare(None)  # type: ignore[arg-type]
    return asyncio.run(all_of_it())


def test_the_request_is_exact(script, behaviours, wrote, monkeypatch):
    """Path, key, model, message and sampling as the API wants them; the judge's words come back."""
    monkeypatch.setenv("JUDGE_KEY", f" {KEY}\n")
    server = script(behaviours.says("Right. Verdict: yes"))
    reward = made(server, api_key_env="JUDGE_KEY", template="Check {completion}", max_new_tokens=99)
    [verdict] = judged(reward, [wrote("東京 {question} 🗼")])
    assert (verdict.value, verdict.reason) == (1.0, "Right. Verdict: yes")
    assert server.paths == ["/v1/chat/completions"]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    message = {"role": "user", "content": "Check 東京 {question} 🗼"}
    assert server.bodies == [{"model": "judge-1", "messages": [message], "temperature": 0.0, "max_tokens": 99}]


def test_passing_trouble_is_tried_again(script, behaviours, wrote):
    """429, 5xx, a lost connection and a time-out do not fail a judgement."""

    def hang_up(handler: Any) -> None:
        handler.close_connection = True

    def sleep(handler: Any) -> None:
        time.sleep(1.5)
        handler.close_connection = True

    trouble = [behaviours.reply(429), behaviours.reply(500), behaviours.reply(503), hang_up, sleep]
    server = script(*trouble, behaviours.says("Verdict: yes"))
    [verdict] = judged(made(server, retries=5, timeout=1.0), [wrote("4")])
    assert verdict.value == 1.0
    assert len(server.bodies) == 6


@pytest.mark.parametrize(
    ("status", "body", "attempts", "says"),
    [
        (500, b"out of order", 3, "HTTP status 500: out of order (3 attempts)"),
        (400, b'{"error": "no such model"}', 1, 'HTTP status 400: {"error": "no such model"}'),
        (401, f"Incorrect API key provided: {KEY}".encode(), 1, "HTTP status 401: Incorrect API key provided: (key)"),
        (302, b"", 1, "HTTP status 302"),
        (200, b"<html>garbage" * 100, 1, "cannot be read: <html>garbage"),
        (200, b"\xff\xfe", 1, "cannot be read"),
        (200, b'{"choices": []}', 1, "cannot be read"),
        (200, b'{"choices": [{"message": {"content": [1]}}]}', 1, "cannot be read"),
        (200, b"[]", 1, "cannot be read"),
    ],
)
def test_lasting_trouble_is_an_error(script, behaviours, wrote, monkeypatch, status, body, attempts, says):
    """Never a score of 0; what cannot pass is tried once; the reason is short and holds no key."""
    monkeypatch.setenv("JUDGE_KEY", KEY)
    server = script(behaviours.reply(status, body))
    [verdict] = judged(made(server, retries=2, api_key_env="JUDGE_KEY"), [wrote("4")])
    assert verdict.kind == "error"
    assert says in verdict.reason
    assert KEY not in verdict.reason
    assert len(verdict.reason) < 400
    assert len(server.bodies) == attempts


def test_a_server_that_drips_or_is_not_there(script, behaviours, wrote):
    """One attempt ends in time even if every single read is early."""

    def drip(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _ in range(40):
            try:
                handler.wfile.write(b" ")
                handler.wfile.flush()
            except OSError:
                break
            time.sleep(0.05)
        handler.close_connection = True

    [verdict] = judged(made(script(drip), retries=0, timeout=0.5), [wrote("4")])
    assert verdict.reason == "the judge did not answer within 0.5 s (one attempt)"
    [verdict] = judged(made("http://127.0.0.1:9", retries=0), [wrote("4")])
    assert verdict.kind == "error"
    assert "cannot be reached (ConnectError)" in verdict.reason


@pytest.mark.parametrize("told", ["1", "date"])
def test_waits_as_long_as_the_server_asks(script, behaviours, wrote, told):
    """Retry-After in seconds or as a date (whose parts of a second are lost)."""
    header = formatdate(time.time() + 2, usegmt=True) if told == "date" else told
    server = script(behaviours.reply(429, Retry_After=header), behaviours.says("Verdict: yes"))
    start = time.monotonic()
    [verdict] = judged(made(server), [wrote("4")])
    assert verdict.value == 1.0
    assert time.monotonic() - start > (0.99 if told == "1" else 0.5)


def test_does_not_wait_for_ever(script, behaviours, wrote):
    """A server that asks for an hour is given up, and the reason says so."""
    server = script(behaviours.reply(503, Retry_After="3600"))
    [verdict] = judged(made(server), [wrote("4")])
    assert verdict.kind == "error"
    assert "asks to wait 3600 s" in verdict.reason
    assert len(server.bodies) == 1


def test_no_more_requests_at_once_than_allowed(script, behaviours, wrote):
    """Two in flight of nine, and both places are used."""
    lock, flying, most = threading.Lock(), 0, 0

    def slow(handler: Any) -> None:
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
        time.sleep(0.05)
        with lock:
            flying -= 1
        behaviours.says("Verdict: yes")(handler)

    server = script(slow)
    verdicts = judged(made(server, concurrency=2), [wrote(str(i)) for i in range(9)])
    assert most == 2
    assert [v.kind for v in verdicts] == ["score"] * 9


def test_answers_are_kept_and_found(script, behaviours, wrote, cache_folder, monkeypatch):
    """A second run asks nothing; another model, template or temperature does; the key is in no file."""
    monkeypatch.setenv("JUDGE_KEY", KEY)
    server = script(behaviours.says("Verdict: yes"))
    keys: dict[str, Any] = {"cache": True, "api_key_env": "JUDGE_KEY"}
    for _ in range(2):
        [verdict] = judged(made(server, **keys), [wrote("4")])
        assert verdict.value == 1.0
    assert len(server.bodies) == 1
    for changed in ({"model": "judge-2"}, {"template": "{completion}"}, {"temperature": 0.5}, {"max_new_tokens": 7}):
        judged(made(server, **keys | changed), [wrote("4")])
    assert len(server.bodies) == 5
    judged(made(server, **keys, verdict=r"Verdict: (?P<verdict>\w+)"), [wrote("4")])
    assert len(server.bodies) == 5, "how an answer is read is no part of the question"
    files = [path for path in cache_folder.rglob("*") if path.is_file()]
    assert len(files) == 5
    assert all(KEY not in path.read_text() for path in files)


def test_errors_are_not_kept(script, behaviours, wrote):
    """The next run asks again."""
    server = script(behaviours.reply(400), behaviours.says("Verdict: yes"))
    assert [judged(made(server, cache=True), [wrote("4")])[0].kind for _ in range(2)] == ["error", "score"]


def test_a_spent_budget_stops_the_run(script, behaviours, wrote):
    """As a message to the user that names the key, not as a verdict; requests that were answered before cost nothing."""
    server = script(behaviours.says("Verdict: yes", tokens=60))
    with pytest.raises(UserError, match="max_requests = 3"):
        judged(made(server, cache=True, max_requests=3, concurrency=1), [wrote(str(i)) for i in range(9)])
    assert len(server.bodies) == 3
    assert len(judged(made(server, cache=True, max_requests=1, concurrency=1), [wrote(str(i)) for i in range(4)])) == 4
    with pytest.raises(UserError, match="max_tokens = 100"):
        judged(made(server, max_tokens=100, concurrency=1), [wrote(str(i)) for i in range(9)])
    assert len(server.bodies) == 6


def test_tokens_that_are_not_reported_cannot_be_limited(script, behaviours, wrote):
    """A limit that is never reached because nobody counts would be no limit."""
    with pytest.raises(UserError, match="does not report tokens"):
        judged(made(script(behaviours.says("Verdict: yes")), max_tokens=100), [wrote("4")])


@pytest.mark.parametrize("said", [None, "", "I cannot say."])
def test_no_verdict_is_an_abstention(script, behaviours, wrote, said):
    """A refusal or prose: the raw text is in the reason."""
    [verdict] = judged(made(script(behaviours.says(said))), [wrote("Verdict: yes")])
    assert verdict.kind == "abstain"
    assert (said or "") in verdict.reason


def test_the_key_stays_where_it_is(monkeypatch):
    """A recipe names a variable; a key in its place is refused without being repeated, and nothing shows the key."""
    with pytest.raises(ValueError, match="never the key itself") as refused:
        made("http://127.0.0.1:9", api_key_env=KEY)
    assert KEY not in str(refused.value)
    with pytest.raises(ValueError, match="must hold no user, password or query") as refused:
        made(f"http://user:{KEY}@127.0.0.1/v1")
    assert KEY not in str(refused.value)
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    with pytest.raises(UserError, match="environment variable JUDGE_KEY is not set"):
        made("http://127.0.0.1:9", api_key_env="JUDGE_KEY").prepare(None)  # type: ignore[arg-type]
    monkeypatch.setenv("JUDGE_KEY", f"{KEY}\u20ac")
    with pytest.raises(UserError, match="holds no key") as told:
        made("http://127.0.0.1:9", api_key_env="JUDGE_KEY").prepare(None)  # type: ignore[arg-type]
    assert KEY not in str(told.value)
    monkeypatch.setenv("JUDGE_KEY", KEY)
    reward = made("http://127.0.0.1:9", api_key_env="JUDGE_KEY")
    reward.prepare(None)  # type: ignore[arg-type]
    assert KEY not in repr(reward)
    asyncio.run(reward.close())


def test_addresses():
    """With or without the path of the call; what is no address is told."""
    assert completions_url("https://api.example.com/v1/") == "https://api.example.com/v1/chat/completions"
    assert completions_url("http://h:1/v1/chat/completions") == "http://h:1/v1/chat/completions"
    for wrong in ("api.example.com/v1", "ftp://h/v1", "http://", "http://h/v1?key=1"):
        with pytest.raises(ValueError, match=r"address of an API|no user, password or query"):
            completions_url(wrong)


def test_keeps_the_promises_of_a_reward(script, behaviours):
    """The contract kit, in one event loop as in a run."""
    reward = made(script(behaviours.says("Verdict: no")), cache=True)
    reward.prepare(None)  # type: ignore[arg-type]
    with asyncio.Runner() as runner:
        check_reward(reward, run=runner.run)
        runner.run(reward.close())


def test_equal_questions_go_once(script, behaviours, wrote):
    """Also without a cache: a group's members often say the same."""
    server = script(behaviours.says("Verdict: yes"))
    verdicts = judged(made(server), [wrote("4"), wrote("4"), wrote("5")])
    assert [v.value for v in verdicts] == [1.0] * 3
    assert len(server.bodies) == 2
    assert json.dumps(server.bodies[0]) != json.dumps(server.bodies[1])
