"""A table of texts that is printed with a title: in a terminal, as Markdown or as LaTeX."""

from collections.abc import Collection
from dataclasses import dataclass

from rich.console import Console

from workflows.terminal import as_table, print_whole

#: Characters that LaTeX would not print as they are.
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


@dataclass(frozen=True)
class Section:
    """One table to print; all cells are text.

    Attributes
    ----------
    title : str
        Stands above the table.
    header : tuple of str
        The names of the columns.
    rows : list of tuple of str
        The cells.
    words : collection of str
        The columns of words. All others are numbers, which are right-aligned.
    """

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    words: Collection[str]

    def print(self, console: Console) -> None:
        """Print the table in a terminal, in its full width."""
        print_whole(console, as_table(self.title, self.header, self.rows, self.words))

    def as_markdown(self) -> str:
        """Return the table as Markdown.

        Examples
        --------
        >>> print(Section("Best", ("name", "ARI"), [("Iris", "0.92")], ["name"]).as_markdown())
        ### Best
        <BLANKLINE>
        | name | ARI |
        | --- | ---: |
        | Iris | 0.92 |
        """
        rule = ("---" if name in self.words else "---:" for name in self.header)
        lines = (self.header, tuple(rule), *self.rows)
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        return f"### {self.title}\n\n{table}"

    def as_latex(self) -> str:
        r"""Return the table as plain LaTeX.

        Examples
        --------
        >>> latex = Section("Best", ("name", "ARI"), [("my_set", "0.92")], ["name"]).as_latex()
        >>> latex.splitlines()[3:7]
        ['\\begin{tabular}{lr}', '\\hline', 'name & ARI \\\\', '\\hline']
        >>> latex.splitlines()[7]
        'my\\_set & 0.92 \\\\'
        """
        columns = "".join("l" if name in self.words else "r" for name in self.header)
        head, *lines = (
            " & ".join(cell.translate(_LATEX) for cell in cells) + r" \\"
            for cells in (self.header, *self.rows)
        )
        table = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", head, r"\hline", *lines, r"\hline"]
        body = "\n".join([*table, r"\end{tabular}"])
        caption = self.title.translate(_LATEX)
        return f"\\begin{{table}}\n\\caption{{{caption}.}}\n\\centering\n{body}\n\\end{{table}}"
