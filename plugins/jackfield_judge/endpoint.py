"""The reward ``judge_endpoint``."""

from __future__ import annotations

import os
import re
from typing import Any, ClassVar

from attrs import define, field

from jackfield.component import at_least, option, positive
from jackfield.errors import Problem, UserError
from jackfield.packages import cache_folder
from jackfield.stages import Tokenizer
from jackfield.types import Message
from jackfield_judge.cache import AnswerCache
from jackfield_judge.chat import ChatClient, completions_url
from jackfield_judge.judging import Judge
from jackfield_judge.limits import Budget, Pace

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
"""Upper case, as such names are; keys are not."""


def _url(url: str) -> str | None:
    try:
        completions_url(url)
    except ValueError as error:
        return str(error)
    return None


def _variable(name: str | None) -> str | None:
    """Says nothing of what was found: it may be a key that does not belong in a recipe."""
    if name is None or _VARIABLE.fullmatch(name):
        return None
    return "expected the name of an environment variable, in upper case; never the key itself"


@define(kw_only=True, eq=False)
class EndpointJudge(Judge):
    """A generative verifier behind an OpenAI-compatible endpoint (``POST url/chat/completions``), asked for many rollouts at once.

    A question that was answered before is answered from the cache, at no cost. Time-outs, lost connections, HTTP 429 and 5xx are tried
    again, after as long as the server asks for; what cannot pass, and what does not pass, is an error of that rollout, never a
    score. When the budget is spent the run ends with a message.
    """

    self_contained: ClassVar[bool] = False

    url: str = option(help="of the API, e.g. http://127.0.0.1:8000/v1", check=_url)
    model: str = option(help="the model's name at the endpoint", check=lambda name: None if name else "must not be empty")
    api_key_env: str | None = option(
        None, help="name of the environment variable that holds the key; None: no key is sent", check=_variable
    )
    max_new_tokens: int = option(512, help="tokens a judgement may take", check=at_least(1))
    temperature: float = option(0.0, help="of sampling at the endpoint", check=at_least(0))
    concurrency: int = option(16, help="requests in flight at once", check=at_least(1))
    requests_per_minute: float = option(0.0, help="requests are spaced to be no more than this; 0: no limit", check=at_least(0))
    timeout: float = option(60.0, help="seconds the endpoint has to answer, each attempt", check=positive)
    retries: int = option(4, help="further attempts after trouble that may pass", check=at_least(0))
    cache: bool = option(True, help="keep answers in the cache folder, and take them from there")
    max_requests: int | None = option(None, help="the run ends when it has made so many requests; None: no limit")
    max_tokens: int | None = option(None, help="the run ends when questions and answers took so many tokens; None: no limit")

    _client: ChatClient | None = field(init=False, default=None, repr=False)
    _answers: AnswerCache | None = field(init=False, default=None, repr=False)

    def prepare(self, tokenizer: Tokenizer) -> None:  # noqa: ARG002
        """Find the key. Raises UserError if its variable is not set."""
        self._client = ChatClient(
            self.url,
            self._key(),
            timeout=self.timeout,
            retries=self.retries,
            concurrency=self.concurrency,
            pace=Pace(self.requests_per_minute),
            budget=Budget(self.max_requests, self.max_tokens),
        )
        self._answers = AnswerCache(cache_folder() / "judge") if self.cache else None

    async def answer(self, conversation: tuple[Message, ...]) -> str:
        """What the endpoint answers, or answered before."""
        if self._client is None:
            raise RuntimeError("the judge has not been prepared")
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in conversation],
            "temperature": self.temperature,
            "max_tokens": self.max_new_tokens,
        }
        place = {"url": completions_url(self.url), **request}
        kept = None if self._answers is None else self._answers.get(place)
        if kept is not None:
            return kept
        said = await self._client.ask(request)
        if self._answers is not None:
            self._answers.put(place, said)
        return said

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _key(self) -> str | None:
        if self.api_key_env is None:
            return None
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            message = f"the environment variable {self.api_key_env} is not set; it must hold the endpoint's key"
            raise UserError(Problem("", "judge_endpoint.api_key_env", message))
        if not (key.isascii() and key.isprintable()):
            message = (
                f"the environment variable {self.api_key_env} holds no key: there are characters in it that no header may have"
            )
            raise UserError(Problem("", "judge_endpoint.api_key_env", message))
        return key
