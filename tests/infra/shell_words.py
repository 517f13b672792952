"""The programs that a shell script starts: its words at places where a command stands. Not a parser of the shell, but it
knows quotes, here-documents, substitutions, functions and the commands that start other commands."""

import re

KEYWORDS = {"if", "then", "elif", "else", "fi", "do", "done", "while", "until", "!", "{", "}", "time", "esac"}
BUILTINS = set(
    ". : [ alias bg break builtin cd command compgen complete continue coproc declare echo eval exec exit export false fg getopts hash "
    "help jobs kill let local mapfile popd printf pushd pwd read readarray readonly return set shift shopt source test times "
    "trap true type typeset ulimit umask unalias unset wait autoload".split())
# They start the command that follows their own options, settings and numbers.
STARTERS = {"command", "env", "exec", "nice", "not", "sudo", "xargs", "$sudo"}
ASSIGNMENT = re.compile(r"\w+(\[[^]]*\])?\+?=")
HERE_DOCUMENT = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n(.*?)^\s*\2$", re.S | re.M)


def programs(text):
    """Names of commands and the lines they stand in; neither builtins, nor functions of the script (or of one that it reads,
    which begin with _), nor paths."""
    # Bodies of here-documents are text; their line ends stay, so that lines can be counted.
    text = HERE_DOCUMENT.sub(lambda m: m.group(0)[:m.start(3) - m.start()] + "\n" * m.group(3).count("\n"), text)
    scanner = Scanner(text)
    scanner.commands()
    return [(name, line) for name, line in scanner.found
            if name not in BUILTINS and name not in scanner.functions and re.fullmatch(r"[A-Za-z][\w.+-]*", name)]


class Scanner:
    def __init__(self, text, line=1):
        self.text, self.at, self.first_line = text, 0, line
        self.found, self.functions = [], set()

    def peek(self, length=1):
        return self.text[self.at:self.at + length]

    def inner(self, text):
        scanner = Scanner(text, self.line())
        scanner.commands()
        self.found += scanner.found

    def line(self):
        return self.first_line + self.text.count("\n", 0, self.at)

    def skip_to(self, end):
        found = self.text.find(end, self.at)
        self.at = len(self.text) if found < 0 else found + len(end)

    def balanced(self):
        """From an opening parenthesis to behind its partner."""
        depth, start = 0, self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\":
                self.at += 1
            elif char in "'\"":
                self.quoted()
                continue
            depth += (char == "(") - (char == ")")
            self.at += 1
            if depth == 0:
                break
        return self.text[start + 1:self.at - 1]

    def quoted(self):
        """A quoted part; what its substitutions start is found, too. Gives the text inside."""
        quote, start = self.text[self.at], self.at + 1
        self.at = start
        while self.at < len(self.text) and self.text[self.at] != quote:
            if quote == '"' and self.text[self.at] == "\\":
                self.at += 2
            elif quote == '"' and self.peek(2) == "$(":
                self.substitution()
            else:
                self.at += 1
        self.at += 1
        return self.text[start:self.at - 1]

    def substitution(self):
        self.at += 1
        inside = self.balanced()
        if not inside.startswith("("):  # else it is arithmetic
            self.inner(inside)

    def word(self):
        """The next word, and whether it is one quoted string and nothing else."""
        start, pieces, quotes = self.at, 0, 0
        inside = ""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "'\"":
                inside, quotes = self.quoted(), quotes + 1
            elif self.peek(2) == "$(":
                self.substitution()
            elif self.peek(2) == "${":
                self.skip_to("}")
            elif char == "\\":
                self.at += 2
            elif char in " \t\n;|&()<>":
                break
            else:
                self.at += 1
                pieces += 1
        if quotes == 1 and pieces == 0:
            return inside, True
        return self.text[start:self.at], False

    def commands(self):
        expects, starter, cases, shell = True, None, 0, 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t" or self.peek(2) == "\\\n":
                self.at += 1 if char in " \t" else 2
            elif char == "#":
                self.skip_to("\n")
                expects, starter, shell = True, None, 0
            elif expects and self.peek(2) == "((":
                self.balanced()
                expects = False
            elif char in "<>":
                self.redirection()
            elif char in "\n;|&()":
                ends_case = self.peek(2) == ";;"
                self.at += 2 if ends_case else 1
                expects, starter, shell = True, None, 0
                if ends_case and cases:
                    cases -= self.pattern()
            else:
                line = self.line()
                word, quoted = self.word()
                if shell == 2:
                    self.inner(word)
                shell = {0: 0, 1: 2 if word == "-c" else 1, 2: 0}[shell]
                if word.endswith("=") and self.peek() == "(":  # a list
                    self.balanced()
                if not expects or ASSIGNMENT.match(word):
                    pass
                elif starter and (word.startswith("-") or word.isdigit() or quoted):
                    pass
                elif word in ("[[", "for", "select"):
                    expects = False
                    if word == "[[":
                        self.test()
                elif word == "case":
                    self.skip_to(" in")
                    cases += 1 - self.pattern()
                elif word in KEYWORDS:
                    pass
                elif self.peek(2) == "()":
                    self.functions.add(word)
                    self.at += 2
                else:
                    self.found.append((word, line))
                    starter = word if word in STARTERS else None
                    shell = 1 if word in ("bash", "sh") else 0
                    expects = starter is not None

    def test(self):
        """Skips to behind `]]`; only what is substituted starts anything."""
        while self.at < len(self.text):
            if self.text[self.at] in " \t\n;|&()<>":
                self.at += 1
            elif self.word()[0] == "]]":
                return

    def pattern(self):
        """Skips a pattern of `case` with its parenthesis; 1 where the `case` ends instead."""
        match = re.compile(r"\s*(esac\b)?").match(self.text, self.at)
        self.at = match.end()
        if match.group(1):
            return 1
        self.skip_to(")")
        return 0

    def redirection(self):
        while self.peek() and self.peek() in "<>&":
            self.at += 1
        if self.peek() == "(":
            self.inner(self.balanced())
        else:
            self.at += len(self.text[self.at:]) - len(self.text[self.at:].lstrip(" \t"))
            self.word()
