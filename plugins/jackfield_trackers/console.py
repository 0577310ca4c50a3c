"""A run in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from jackfield.errors import Interrupted
from jackfield.report import RunInfo, StepReport
from jackfield.words import counted
from jackfield_trackers import wording

if TYPE_CHECKING:
    import rich.console
    import rich.progress

PLAIN_WIDTH = 200
"""Columns of a table that goes to a file or pipe."""


@define(kw_only=True)
class Console:
    """Bars for the steps done and the phase under way, one line a step, a table an evaluation and one at the end.

    Where the output is no terminal there are no bars, no colours and no control characters.
    """

    _run: RunInfo | None = field(default=None, init=False)
    _console: rich.console.Console | None = field(default=None, init=False)
    _bars: rich.progress.Progress | None = field(default=None, init=False)
    _steps: rich.progress.TaskID | None = field(default=None, init=False)
    _phases: dict[str, rich.progress.TaskID] = field(factory=dict, init=False)
    _reports: list[StepReport] = field(factory=list, init=False)

    def start(self, run: RunInfo) -> None:
        """Say what runs. The bars wait for the first progress, so that nothing is up if another tracker cannot start."""
        import rich.console

        console = rich.console.Console(highlight=False)
        if not console.is_terminal:
            console = rich.console.Console(highlight=False, width=PLAIN_WIDTH, color_system=None)
        self._run, self._console = run, console
        resumed = f", from step {run.first_step}" if run.first_step else ""
        self._say(f"{run.title}: {counted(run.steps, 'step')}{resumed}, in {run.folder}", "bold")

    def progress(self, phase: str, done: int, total: int) -> None:
        """Move the phase's bar."""
        run, console = self._started()
        if not console.is_terminal:
            return
        if self._bars is None:
            self._bars = _bars(console)
            self._steps = self._bars.add_task("steps", total=run.steps, completed=run.first_step)
            self._bars.start()
        if phase not in self._phases:
            self._phases[phase] = self._bars.add_task(phase, total=total)
        self._bars.update(self._phases[phase], completed=done, total=total)

    def step(self, report: StepReport) -> None:
        """Print the step's line or the evaluation's table."""
        run, _ = self._started()
        # Rollouts are not kept: a run of many steps would hold them all.
        self._reports.append(StepReport(kind=report.kind, step=report.step, metrics=report.metrics, seconds=report.seconds))
        if report.kind == "evaluation":
            self._say(wording.evaluation_title(report, samples=run.samples), "bold cyan")
            self._table(wording.evaluation_table(report.metrics))
        else:
            self._say(wording.step_line(report, run.steps, samples=run.samples))
        self._clear_phases(report)

    def end(self, error: BaseException | None) -> None:
        """Take the bars down and print the summary."""
        if self._bars is not None:
            self._bars.stop()
        run, _ = self._started()
        self._table(wording.summary_table(self._reports, samples=run.samples, first_step=run.first_step))
        seconds = sum(report.seconds.get("total", 0.0) for report in self._reports)
        stopped = isinstance(error, Interrupted | KeyboardInterrupt)
        how = "done" if error is None else "stopped" if stopped else f"ended by {type(error).__name__}"
        look = "" if error is None or stopped else f"; look at it with: jackfield show {run.folder}"
        self._say(f"{how} after {wording.duration(seconds)}{look}", "bold red" if look else "bold")

    def _clear_phases(self, report: StepReport) -> None:
        if self._bars is None or self._steps is None:
            return
        for task in self._phases.values():
            self._bars.remove_task(task)
        self._phases.clear()
        if report.kind == "step":
            self._bars.update(self._steps, completed=report.step)

    def _say(self, text: str, style: str | None = None) -> None:
        _, console = self._started()
        console.print(text, style=style, markup=False, soft_wrap=True)

    def _table(self, rows: list[list[str]]) -> None:
        from rich.table import Table
        from rich.text import Text

        if not rows:
            return
        header, *body = rows
        table = Table(box=None, pad_edge=False, header_style="bold")
        for index, name in enumerate(header):
            table.add_column(Text(name), justify="right" if index else "left", no_wrap=True)
        for row in body:
            table.add_row(*map(Text, row))
        self._started()[1].print(table)

    def _started(self) -> tuple[RunInfo, rich.console.Console]:
        if self._run is None or self._console is None:
            raise RuntimeError("the tracker has not been started")
        return self._run, self._console


def _bars(console: rich.console.Console) -> rich.progress.Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description:>8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        refresh_per_second=4,
        transient=True,
    )
