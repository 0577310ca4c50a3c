"""Metrics in TensorBoard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from jackfield.errors import Problem, UserError
from jackfield.report import RunInfo, StepReport

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


@define(kw_only=True)
class TensorBoard:
    """Every metric as a scalar over steps, and seconds by phase, in ``tensorboard/`` of the run folder.

    Look at them with ``tensorboard --logdir RUN/tensorboard``. A resumed run hides what an earlier attempt wrote of later steps.
    """

    _writer: SummaryWriter | None = field(default=None, init=False)

    def start(self, run: RunInfo) -> None:
        """Open the log. UserError if TensorBoard is not installed."""
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            missing = f"TensorBoard cannot be imported ({error}); install it with: pip install 'jackfield[tensorboard]'"
            raise UserError(Problem("", "trackers.tensorboard", missing)) from error
        purge = run.first_step + 1 if run.first_step else None
        self._writer = SummaryWriter(str(run.folder / "tensorboard"), purge_step=purge)

    def progress(self, phase: str, done: int, total: int) -> None:
        """Nothing."""

    def step(self, report: StepReport) -> None:
        """Add the report's numbers at its step."""
        if self._writer is None:
            raise RuntimeError("the tracker has not been started")
        for name, value in report.metrics.items():
            self._writer.add_scalar(name, value, report.step)
        prefix = "" if report.kind == "step" else f"{report.kind}/"
        for phase, seconds in report.seconds.items():
            self._writer.add_scalar(f"{prefix}seconds/{phase}", seconds, report.step)
        self._writer.flush()

    def end(self, error: BaseException | None) -> None:  # noqa: ARG002
        """Close the log."""
        if self._writer is not None:
            self._writer.close()
