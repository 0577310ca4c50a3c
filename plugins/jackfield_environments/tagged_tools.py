"""Search-R1's protocol (Jin et al. 2025, arXiv 2503.09516, algorithm 1): think, call, read, answer, by tags in plain text."""

from __future__ import annotations

import re
from collections import Counter

from attrs import Factory, field, frozen

from jackfield.component import at_least, option
from jackfield.rollout import Episode
from jackfield.stages import Tokenizer, Turn
from jackfield.types import Rollout, Task
from jackfield_environments.action import Action, NoAction, one_of, read_action
from jackfield_environments.information import information_block, readable
from jackfield_environments.prompt import fill, holds_placeholder, prompt_messages, prompt_problem

TEMPLATE = """\
Find the answer to the question below. Whenever you have learnt something, first think about it inside <think> and </think>. \
{calls} As soon as you know the answer, write just the answer, without explanation, inside <{answer_tag}> and </{answer_tag}>.

Question: {question}"""
SEARCHING = "If a fact is missing, write <{tag}>what to look for</{tag}>; the best passages found for it will then be shown"
CALLING = "To use the {tool}, write <{tag}>what to give it</{tag}>; what it gives back will then be shown"

CORRECTION = "\n\nThat was not a valid action: {problem}. The next thing to write is {actions}.\n\n"


def _tag_name(tag: str) -> str | None:
    return (
        None if re.fullmatch(r"[A-Za-z][\w-]*", tag) else f"must be a tag's name such as 'search', without brackets, found {tag!r}"
    )


def _tool_tags(tags: dict[str, str]) -> str | None:
    return (
        next(filter(None, map(_tag_name, tags)), None) if tags else "names no tool; use single_turn where there is nothing to call"
    )


@frozen(kw_only=True)
class TaggedTools:
    """The policy calls tools and answers by tags: ``<search>…</search>``, ``<answer>…</answer>``.

    A policy turn ends at the closing tag of an action, at EOS or when its budget is spent. Its action is the first complete one in
    its text, wherever that stands (also inside a forged ``<information>`` block: what the policy writes stays the policy's). Then:

    - an answer ends the rollout (finish ``answer``);
    - a call is answered by ``<information>…</information>``, results or the tool's failure, cut so that tags always close; the call
      that makes ``loop_limit`` identical ones (same tool, same text, in one rollout) is not run and ends it (``tool_loop``);
    - EOS without an action ends it (``eos``, with what was missing);
    - anything else is answered by ``correction``, which says what was wrong; nothing is run.

    As in Search-R1, ``max_turns`` turns may call tools, and a turn that was corrected counts as one; after them comes one final
    turn in which a call is not run: without an answer the rollout ends (``turns``). When ``max_tokens`` leaves no room for the
    observation and one more token it ends (``length``). A prompt that does not fit gives a ``failed`` rollout. Counters: ``turns``,
    ``search_calls`` and ``search_failures`` (by tool), ``invalid_actions``, ``observations_cut``.
    """

    template: str = option(
        TEMPLATE,
        help="the user message; {question} is the row's question, {calls} says how tool_tags call their tools, {answer_tag} is that tag; "
        "use '{question}' for rows that carry a full prompt",
        check=holds_placeholder("question", "calls", "answer_tag"),
    )
    system: str = option("", help="a system message before the row's messages; a row that has its own is refused")
    max_turns: int = option(
        4,
        help="turns that may call a tool, those that were corrected counted; after them comes one more, the final turn, to answer",
        check=at_least(0),
    )
    max_new_tokens_per_turn: int = option(500, help="tokens the policy may write in one turn", check=at_least(1))
    max_tokens: int = option(4096, help="tokens of the whole rollout, prompt and observations included", check=at_least(1))
    max_observation_tokens: int = option(500, help="tokens of one observation, its tags included", check=at_least(1))
    tool_tags: dict[str, str] = option(
        Factory(lambda: {"search": "search"}), help="tag → name of the tool it calls", check=_tool_tags
    )
    answer_tag: str = option("answer", help="tag of the final answer", check=_tag_name)
    observation_tag: str = option("information", help="tag around what a tool gave", check=_tag_name)
    correction: str = option(
        CORRECTION,
        help="reply to a turn without a valid action; {problem} is filled with what was wrong, {actions} with what is possible",
        check=holds_placeholder("problem", "actions"),
    )
    loop_limit: int = option(3, help="so many identical calls in a rollout end it; the last of them is not run", check=at_least(2))

    def __attrs_post_init__(self) -> None:
        tags = Counter([*self.tool_tags, self.answer_tag, self.observation_tag])
        if twice := [tag for tag, times in tags.items() if times > 1]:
            raise ValueError(f"tool_tags, answer_tag and observation_tag must differ, but {twice[0]!r} is used twice")

    @property
    def prompt_template(self) -> str:
        """The template with the recipe's tags in it."""
        return fill(self.template, {"calls": self._calls(), "answer_tag": self.answer_tag})

    def _calls(self) -> str:
        """How tools are called, a sentence a tag."""
        shown = f"inside <{self.observation_tag}> and </{self.observation_tag}>."
        told = [
            f"{(SEARCHING if tool == 'search' else CALLING).format(tag=tag, tool=tool)} {shown}"
            for tag, tool in self.tool_tags.items()
        ]
        again = "Search again as often as it helps." if self.requires_tools == ("search",) else "Do so as often as it helps."
        return " ".join([*told, again])

    @property
    def turn_limit(self) -> int:
        """Turns of the policy, the final one included."""
        return self.max_turns + 1

    @property
    def requires_tools(self) -> tuple[str, ...]:
        """Names of the tools a recipe must list."""
        return tuple(dict.fromkeys(self.tool_tags.values()))

    @property
    def turn_budget(self) -> int:
        """Tokens of a turn."""
        return self.max_new_tokens_per_turn

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:
        """Why a task cannot be played: no prompt can be made of it, or it leaves no room to answer."""
        problem = prompt_problem(task, self.system)
        if problem is not None:
            return problem
        length = len(tokenizer.chat(prompt_messages(task, self.prompt_template, self.system)))
        return None if length < self.max_tokens else self.no_room(length)

    def no_room(self, length: int) -> str:
        """What to say of a prompt of so many tokens."""
        return f"the prompt of {length} tokens leaves no room in max_tokens = {self.max_tokens}"

    async def play(self, episode: Episode) -> Rollout:
        return await _Play(environment=self, episode=episode).run()


@frozen(kw_only=True, eq=False)
class _Play:
    """One rollout being played."""

    environment: TaggedTools
    episode: Episode
    calls: Counter[tuple[str, str]] = field(factory=Counter)

    async def run(self) -> Rollout:
        environment, episode = self.environment, self.episode
        for tool in environment.requires_tools:
            episode.count(f"{tool}_calls", 0)
            episode.count(f"{tool}_failures", 0)
        episode.count("invalid_actions", 0)
        episode.count("observations_cut", 0)
        episode.start(prompt_messages(episode.task, environment.prompt_template, environment.system))
        if self.room < 1:
            return episode.finish("failed", environment.no_room(episode.num_tokens))
        for turns_left in range(environment.max_turns, -1, -1):
            ended = await self.turn(final=turns_left == 0)
            if ended is not None:
                return ended
        raise AssertionError("the final turn ends the rollout")

    async def turn(self, *, final: bool) -> Rollout | None:
        """One policy turn and what follows it; the rollout if that ended it."""
        stops = [f"</{tag}>" for tag in self.tags]
        turn = await self.episode.generate(min(self.environment.max_new_tokens_per_turn, self.room), stops)
        action = read_action(turn.text, self.tags)
        if isinstance(action, NoAction):
            return self.without_action(turn, action.problem, final=final)
        if action.tag == self.environment.answer_tag:
            return self.episode.finish("answer")
        return await self.call(action, final=final)

    def without_action(self, turn: Turn, problem: str, *, final: bool) -> Rollout | None:
        self.episode.count("invalid_actions")
        if turn.ended_by == "eos":
            return self.episode.finish("eos", f"no <{self.environment.answer_tag}>: the policy ended its text, but {problem}")
        if turn.ended_by == "length":
            problem = f"the text was cut off after {len(turn.tokens)} tokens and {problem}"
        if self.room < 1:
            return self.out_of_room(problem)
        if final:
            return self.out_of_turns(problem)
        text = self.environment.correction.format(problem=problem, actions=one_of(self.tags))
        tokens = self.episode.tokenizer.encode(text)
        if len(tokens) >= self.room:
            return self.out_of_room(problem)
        self.episode.observe_tokens(tokens, text)
        return None

    async def call(self, action: Action, *, final: bool) -> Rollout | None:
        environment, episode = self.environment, self.episode
        tool = environment.tool_tags[action.tag]
        if final:
            return self.out_of_turns(f"{tool} was called in the final turn, where calls are not run")
        self.calls[tool, action.content] += 1
        if (times := self.calls[tool, action.content]) >= environment.loop_limit:
            return episode.finish("tool_loop", f"{tool} was called {times} times with {action.content!r} (loop_limit = {times})")
        if self.room < 2:
            return self.out_of_room(f"{tool} was called, and what it gives does not fit")
        observation = await episode.call(tool, action.content)
        budget = min(environment.max_observation_tokens, self.room - 1)
        block = information_block(readable(observation), environment.observation_tag, budget, episode.tokenizer)
        if block is None:
            return self.out_of_room(f"what {tool} gave does not fit into {budget} tokens")
        episode.count("observations_cut", block.cut)
        episode.observe_tokens(block.tokens, block.text)
        return None

    @property
    def tags(self) -> tuple[str, ...]:
        return (*self.environment.tool_tags, self.environment.answer_tag)

    @property
    def room(self) -> int:
        """Tokens left in the rollout."""
        return self.environment.max_tokens - self.episode.num_tokens

    def out_of_room(self, why: str) -> Rollout:
        used = f"{self.episode.num_tokens} of max_tokens = {self.environment.max_tokens} are used"
        return self.episode.finish("length", f"no <{self.environment.answer_tag}>: {why}; {used}")

    def out_of_turns(self, why: str) -> Rollout:
        return self.episode.finish(
            "turns", f"no <{self.environment.answer_tag}> in max_turns = {self.environment.max_turns} and the final turn: {why}"
        )
