"""Breaks generated lines of C++ and Python."""

WIDTH = 120


def wrap(text: str, indent: int, room: int = 0) -> str:
    """Breaks a line of code after commas, in the outermost brackets that will do, so that it keeps to WIDTH columns.

    `indent` is that of the lines that follow; `room` is what stands before the first.
    """
    for depth in range(1, 5):
        lines = _lines(_pieces(text, depth), WIDTH - room, WIDTH - indent)
        if len(lines[0]) <= WIDTH - room and all(len(line) <= WIDTH - indent for line in lines[1:]):
            break
    return ("\n" + " " * indent).join(lines)


def literal(text: str, indent: int, room: int = 0) -> str:
    """A C++ string literal, in pieces that are broken after commas to keep to WIDTH columns."""
    quotes = len('""')
    lines, line = [], ""
    for piece in text.replace(", ", ",\0 ").split("\0"):
        if line and len(line) + len(piece) > WIDTH - indent - quotes - room:
            lines.append(line)
            line = ""
        line += piece
    return ("\n" + " " * indent).join(f'"{line}"' for line in [*lines, line])


def _lines(pieces: list[str], first: int, others: int) -> list[str]:
    lines, line = [], ""
    for piece in pieces:
        if line and len(line) + len(piece.rstrip()) > (others if lines else first):
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()]


def _pieces(text: str, limit: int) -> list[str]:
    """Splits after the commas inside of at most `limit` brackets, and after a colon outside of all."""
    pieces, quoted, depth, start = [], False, 0, 0
    for i, char in enumerate(text):
        quoted ^= char == '"'
        if not quoted:
            depth += (char in "([{") - (char in ")]}")
            if char == " " and ((text[i - 1] == "," and depth <= limit) or (text[i - 1] == ":" and depth == 0)):
                pieces.append(text[start : i + 1])
                start = i + 1
    return [*pieces, text[start:]]
