"""Which rows of a batch are attended together: one call over neighbouring slots costs less than many, but pads them to one length."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from attrs import frozen

from jackfield_sampler.batch import Row

CALL = 200
"""What one more attention call costs, in key positions of one row (measured: 17 µs a call, 0.09 µs a position, on two cores)."""


@frozen(eq=False)
class Span:
    """Consecutive rows of a batch that lie in consecutive slots."""

    tokens: slice
    """Of the batch's joined tokens."""
    slots: slice
    length: int
    """Key positions to look at: the longest row's."""
    single: bool
    """Every row has one new token."""
    mask: torch.Tensor | None
    """Additive: [R, 1, 1, C] for single tokens, [T, C] for one longer row. None: everything is visible, or plainly causal."""


def spans(rows: Sequence[Row], dtype: torch.dtype, device: torch.device) -> list[Span]:
    """Spans in the order of ``rows`` (sorted by slot): each row of several tokens alone, neighbours of one token joined where it pays."""
    found: list[Span] = []
    first_token = 0
    for members in _neighbours(rows):
        num_tokens = sum(len(row.ids) for row in members)
        length = max(row.end for row in members)
        single = num_tokens == len(members)
        found.append(
            Span(
                tokens=slice(first_token, first_token + num_tokens),
                slots=slice(members[0].slot, members[-1].slot + 1),
                length=length,
                single=single,
                mask=_mask(members, length, single, dtype, device),
            )
        )
        first_token += num_tokens
    return found


def _neighbours(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows cut into spans: a row joins its predecessor's span unless padding either would cost more than one more call."""
    groups: list[list[Row]] = []
    for row in rows:
        if groups and _joins(groups[-1], row):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _joins(group: list[Row], row: Row) -> bool:
    if len(row.ids) > 1 or len(group[-1].ids) > 1 or row.slot != group[-1].slot + 1:
        return False
    longest = max(member.end for member in group)
    joined = max(longest, row.end) * (len(group) + 1)
    return joined <= longest * len(group) + row.end + CALL


def _mask(members: Sequence[Row], length: int, single: bool, dtype: torch.dtype, device: torch.device) -> torch.Tensor | None:
    key_C = torch.arange(length, device=device)
    if single:
        if all(row.end == length for row in members):
            return None
        end_R = torch.tensor([row.end for row in members], device=device)
        return _additive(key_C >= end_R[:, None], dtype)[:, None, None]
    (row,) = members
    if row.start == 0:
        return None
    return _additive(key_C > torch.arange(row.start, row.end, device=device)[:, None], dtype)


def _additive(hidden: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return torch.zeros(hidden.shape, dtype=dtype, device=hidden.device).masked_fill_(hidden, -torch.inf)
