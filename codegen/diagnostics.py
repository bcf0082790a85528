"""What is wrong with a spec, and where: a message, a caret, a guess at what was meant, and what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of one source line; lines and columns count from zero."""

    line: int
    column: int
    width: int = 1


@dataclass(frozen=True)
class Source:
    """The text that was read, under the name that messages give it."""

    name: str
    text: str

    def line(self, number: int) -> str:
        lines = self.text.splitlines()
        return lines[number] if number < len(lines) else ""


@dataclass(frozen=True)
class Diagnostic:
    """One finding of one rule. `code` is the rule's id; a W is a warning."""

    code: str
    span: Span
    message: str
    help: str | None = None

    @property
    def is_warning(self) -> bool:
        return self.code.startswith("W")

    def render(self, source: Source) -> str:
        number = str(self.span.line + 1)
        gutter = " " * len(number)
        line = source.line(self.span.line)
        width = max(1, min(self.span.width, len(line) - self.span.column))
        rendered = [
            f"{source.name}:{number}:{self.span.column + 1}: {self.code} {self.message}",
            f"{gutter} |",
            f"{number} | {line}",
            f"{gutter} | {' ' * self.span.column}{'^' * width}",
        ]
        if self.help:
            rendered.append(f"{gutter} = help: {self.help}")
        return "\n".join(rendered)


def ordered(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By position, then rule; what two paths to the same finding said twice is said once."""
    return sorted(set(diagnostics), key=lambda d: (d.span, d.code, d.message))


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """'; did you mean 'x'?' for the choice that `word` most likely misspells, else nothing."""
    guess = nearest(word, choices)
    return f"; did you mean '{guess}'?" if guess else ""


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that `word` most likely misspells; difflib is case-sensitive, and case is the commonest slip."""
    choices = list(choices)
    for choice in choices:
        if choice.lower() == word.lower():
            return choice
    return next(iter(difflib.get_close_matches(word, choices, 1, 0.6)), None)


def listing(words: Iterable[str]) -> str:
    """'a', 'b' and 'c'."""
    quoted = [f"'{word}'" for word in words]
    return " and ".join(part for part in (", ".join(quoted[:-1]), quoted[-1] if quoted else "") if part)
