"""A plugin with one small component of every kind; loaded as a local file of hooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import Factory, evolve, field, frozen

from jackfield import hookimpl
from jackfield.component import at_least, fraction, option, part

if TYPE_CHECKING:
    from somewhere_heavy import NeverImported


# What the protocols of jackfield.stages list; no test of a recipe calls any of it.


class AModel:
    def tokenizer(self) -> Any: ...
    def load(self) -> Any: ...
    def from_folder(self, folder: Path) -> Any: ...
    def tiny(self) -> Any: ...


class SomeData:
    def tasks(self, split: str) -> Any: ...


class AnEnvironment:
    async def play(self, episode: Any) -> Any: ...


class AReward:
    def judge(self, rollout: Any) -> Any: ...


class AnAdvantage:
    def credit(self, groups: Any) -> Any: ...


class ALoss:
    def terms(self, batch: Any) -> Any: ...


@frozen(kw_only=True)
class Model(AModel):
    path: str = option(help="folder or hub id", check=lambda path: None if path else "must not be empty")
    dtype: Literal["float32", "bfloat16"] = option("float32", help="of the weights")

    def tiny(self) -> Model:
        return Model(path="tiny", dtype=self.dtype)

    def from_folder(self, folder: Path) -> Model:
        return evolve(self, path=str(folder))


@frozen(kw_only=True)
class Pathless(AModel):
    pass


@frozen(kw_only=True)
class Rows(SomeData):
    file: Path = option(Path("rows.jsonl"), help="the rows")
    columns: dict[str, str] = option(Factory(dict), help="ours → theirs")
    limit: int | None = option(None, help="so many rows")


@frozen(kw_only=True)
class Generated(SomeData):
    self_contained = True
    limit: int = option(1, help="so many rows")


@frozen(kw_only=True)
class Passages:
    shards: tuple[Path, ...] = option((), help="files")
    size: int | Literal["all"] = option("all", help="so many")
    fingerprint = ""

    def passages(self) -> Any: ...


@frozen(kw_only=True)
class Chat(AnEnvironment):
    requires_tools: tuple[str, ...] = ()
    greeting: str = option("hello", help="first words")
    polite: bool = option(True, help="say please")
    max_new_tokens: int = option(500, help="so many at most")
    max_tokens: int = option(600, help="of the whole")
    _cache: NeverImported = field(init=False, default=None)


@frozen(kw_only=True)
class Searching(AnEnvironment):
    requires_tools = ("search",)


@frozen(kw_only=True)
class Search:
    name = "search"
    corpus: Any = part("corpora", "passages", help="what to search")
    top_k: int = option(3, help="passages", check=at_least(1))

    def prepare(self) -> None: ...
    async def call(self, text: str) -> Any: ...


@frozen(kw_only=True)
class Engine:
    holds = "a copy of the policy"
    samples = True
    threads: int = option(1, help="threads")

    def start(self, policy: Any, tokenizer: Any) -> None: ...
    def refresh(self, policy_version: int) -> None: ...
    def open(self, prompt: Any, *, task: Any, member: int, prefix: str, seed: int, temperature: float) -> Any: ...


@frozen(kw_only=True)
class Recorded(Engine):
    samples = False


@frozen(kw_only=True)
class Reward(AReward):
    scale: float = option(1.0, help="factor")


@frozen(kw_only=True)
class Far(Reward):
    self_contained = False
    holds = "a model of its own"


@frozen(kw_only=True)
class RewardModel(AReward):
    path: str = option(help="folder of a checkpoint")


@frozen(kw_only=True)
class Penalty:
    needs = frozenset({"ref_logp"})

    def penalty(self, rollout: Any) -> Any: ...


@frozen(kw_only=True)
class Grouped(AnAdvantage):
    smallest_group = 2
    uses_reward = True
    gives_returns = True
    std: bool = option(True, help="divide by the standard deviation")


@frozen(kw_only=True)
class Gae(AnAdvantage):
    smallest_group = 1
    uses_reward = True
    gives_returns = True
    needs = frozenset({"value"})
    lam: float = option(1.0, help="weight", check=fraction)
    gamma: float = option(1.0, help="discount", check=fraction)


@frozen(kw_only=True)
class Constant(AnAdvantage):
    smallest_group = 1
    uses_reward = False
    gives_returns = False


@frozen(kw_only=True)
class Clip(ALoss):
    unit = "token"
    needs = frozenset({"old_logp"})
    clip_low: float = option(0.2, help="below", check=fraction)
    clip_high: float = option(0.2, help="above", check=fraction)

    def __attrs_post_init__(self) -> None:
        if self.clip_high < self.clip_low:
            raise ValueError("clip_high: must not be below clip_low")


@frozen(kw_only=True)
class ValueLoss(ALoss):
    unit = "token"
    needs = frozenset({"value", "returns"})


@frozen(kw_only=True)
class Wishful(ALoss):
    unit = "token"
    needs = frozenset({"ref_logpp"})


@frozen(kw_only=True)
class Weighty(ALoss):
    unit = "token"
    weight: float = option(1.0, help="taken by the core")


@frozen(kw_only=True)
class Untypable(ALoss):
    unit = "token"
    ratio: complex = option(1.0, help="no recipe can write this")


@frozen(kw_only=True)
class Picky(ALoss):
    unit = "token"

    def check_recipe(self, corridor: Any) -> list[str]:
        return [f"does not like seed {corridor.run.seed}"] if corridor.run.seed == 13 else []


@frozen(kw_only=True)
class Critic:
    path: str | None = option(None, help="folder of a checkpoint")

    def start(self, policy: Any, seed: int) -> None: ...
    def values(self, packed: Any, hidden_NH: Any) -> Any: ...
    def parameters(self) -> Any: ...
    def save(self, folder: Path) -> None: ...
    def restore(self, folder: Path) -> None: ...


@frozen(kw_only=True)
class Optimizer:
    lr: float = option(1e-6, help="learning rate")

    def build(self, policy: Any, critic: Any) -> Any: ...
    def learning_rate(self, group: str, update: int, num_updates: int) -> Any: ...


@frozen(kw_only=True)
class Tracker:
    def start(self, run: Any) -> None: ...
    def progress(self, phase: str, done: int, total: int) -> None: ...
    def step(self, report: Any) -> None: ...
    def end(self, error: Any) -> None: ...


class NotAttrs:
    pass


COMPONENTS = {
    "models": {"hf": Model, "pathless": Pathless},
    "data": {"rows": Rows, "smoke": Rows, "generated": Generated},
    "corpora": {"passages": Passages, "smoke": Passages},
    "environments": {"chat": Chat, "searching": Searching},
    "tools": {"search": Search, "search_too": Search},
    "engines": {"torch": Engine, "recorded": Recorded},
    "rewards": {"exact": Reward, "format": Reward, "smoke": Reward, "far": Far, "rm": RewardModel},
    "penalties": {"kl": Penalty},
    "advantages": {"group_norm": Grouped, "gae": Gae, "constant": Constant},
    "losses": {
        "clip": Clip,
        "value": ValueLoss,
        "wishful": Wishful,
        "weighty": Weighty,
        "untypable": Untypable,
        "picky": Picky,
        "not_attrs": NotAttrs,
    },
    "critics": {"head": Critic},
    "optimizers": {"adamw": Optimizer},
    "trackers": {"console": Tracker, "metrics_jsonl": Tracker, "rollouts_jsonl": Tracker},
}


def _offer(kind: str, register: Any) -> None:
    for name, cls in COMPONENTS[kind].items():
        register(name, f"{__name__}:{cls.__name__}", f"A {name}.")


@hookimpl
def jackfield_models(register: Any) -> None:
    _offer("models", register)


@hookimpl
def jackfield_data(register: Any) -> None:
    _offer("data", register)


@hookimpl
def jackfield_corpora(register: Any) -> None:
    _offer("corpora", register)


@hookimpl
def jackfield_environments(register: Any) -> None:
    _offer("environments", register)


@hookimpl
def jackfield_tools(register: Any) -> None:
    _offer("tools", register)


@hookimpl
def jackfield_engines(register: Any) -> None:
    _offer("engines", register)


@hookimpl
def jackfield_rewards(register: Any) -> None:
    _offer("rewards", register)


@hookimpl
def jackfield_penalties(register: Any) -> None:
    _offer("penalties", register)


@hookimpl
def jackfield_advantages(register: Any) -> None:
    _offer("advantages", register)


@hookimpl
def jackfield_losses(register: Any) -> None:
    _offer("losses", register)


@hookimpl
def jackfield_critics(register: Any) -> None:
    _offer("critics", register)


@hookimpl
def jackfield_optimizers(register: Any) -> None:
    _offer("optimizers", register)


@hookimpl
def jackfield_trackers(register: Any) -> None:
    _offer("trackers", register)
