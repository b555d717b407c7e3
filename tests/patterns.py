"""What readers are fed, over and over: a pattern that made one of them slow, or fail, joins the list."""

PATTERNS = [
    '<a ">"', '<a b=">', "<a b='>", '<a "', '"><a ', "<a ", "<", ">", "</", "<p>", "<p/>", "<li><p>", "<!", "<!--",
    "<!-->", "<script>", "<script></script", "<nav>", "<nav></nav>", "<title>", "<h1>", "<svg><title>",
    "İ<style></style>", "<text></x>", "<text>", "<text></text>", "<doc>", "<doc><text>a</doc>", "<slug></text>",
    "<text><slug></slug>", "<p>a</x>", "&", "&#", "&#1", "&#x1", "&a", "&amp", "&AMP;", "&LR;", "&#38;", "&notit",
    "&CounterClockwiseContourIntegra", "[", "]", "![", "![]", "[](", "[a](b)", "[a][", "[a]: ", "[[]", "(", "*", "_",
    "* ", "_a", "*a*", "**a", "`", "```\n", "~~~\n", "---\n", "===\n", "a\n=\n", "a\n---\n", "# ", "# a\n", "#",
    "> ", "- ", "- a\n", "1. a\n", "<http://a>", "<!---", ".", ". ", "a. ", "A. ", "a.b.", "Mr. ", "U.S. ", '."',
    ". ' ", ".)", ".[1]", ". ) ", "?!", "? \"A ", "!'", "...", "… ", ";", "α;", "|", "क|", "。", "。」", "「", "'",
    "''", "``", "“", "’", "a's ", "1,000", "1.", "1,", "-", "–", "a-", "_ ", "\n", "\n\n", "\r", "\r\n", " ", "\t",
    "  a\n", "\xa0", "\u2028", "\u200b", "\u202e", "\x00", "\x1b[", "\ufeff", "a", "A", "a ", "A ", "é", "e\u0301",
    "\u0301", "大", "ก", "ﷺ", "İ", "ß", "🙂", "(AP) _ ", "A _ ", "By A\n", "END\n", "##\n", "{", '{"a":', '{"a":[',
    "| a | b |\n", "|-|-|\n", "> - ", "- - ", "[^1]", "[^1]: a\n", "<p class='", '<p class="a" ', "<table><tr><td>",
    "<li><a href=", "<div>", "<blockquote>", "<header>", "</div>", "+++\n", "a: b\n", "$ ", "A.\n", "\t|\t",
    "[![", "> # a\nb\n", ">     a\nb\n", ">> # a\n> b\n", "; a=b", "<head ",
    '"a",', "\\", '\\"', "\\u0000", "1e1", "0", "-0.", "null,", "It rained. ",
]  # fmt: skip

# What is slow only behind an opening, or only in a part of a file: the reader, the opening, the pattern.
SHAPES = {
    "parameters": ("a.eml", "Content-Type: text/plain", "; a=b"),
    "folded parameters": ("a.eml", "Content-Type: text/plain", ";\n a=b"),
    "parameters that are not closed": ("a.eml", "Content-Type: text/plain; ", 'a="'),
    "parameters in pieces": ("a.eml", "Content-Type: text/plain", "; a*0=b"),
    "encoded parameters": ("a.eml", "Content-Type: text/plain", "; charset*=utf-8''a"),
    "parameters of a file": ("a.eml", "Content-Disposition: attachment", "; filename*0=a"),
    "ids of pictures": ("a.eml", "Content-Type: image/png\nContent-ID: ", "; a=b"),
    "encodings": ("a.eml", "Content-Transfer-Encoding: ", "(a "),
    "encoded words": ("a.eml", "Subject: ", "=?utf-8?q?a?= "),
    "lines that may go on": ("a.eml", "Content-Type: text/plain; format=flowed\n\n", "a \n"),
    "blank quotations": ("a.eml", "Message-ID: <1>\n\n", "\n>\n"),
    "introductions": ("a.eml", "Message-ID: <1>\n\n", "> a\nwrote:\n"),
    "nested parts": ("a.eml", "", "Content-Type: multipart/mixed; boundary=b\n\n--b\n"),
    "parts": (
        "a.eml",
        "Content-Type: multipart/mixed; boundary=b\n\n",
        "--b\nContent-Type: text/html" + "; a=b" * 9 + "\n\na\n",
    ),
    "heads of a book": ("a.epub", "", "<head>"),
    "heads that end": ("a.epub", "", "<head></"),
    "brackets with references": ("a.md", "[x]: y\n\n", "[x][a]["),
    "lines after quotations": ("a.md", ">" * 30 + " a\n", "b\n"),
    "lines after lists and quotations": ("a.md", "> 1. " * 19 + "a\n", "b\n"),
    "tables that lack cells": ("a.md", "", "a|" * 64 + "\n" + "-|" * 64 + "\n" + "|\n" * 64 + "\n"),
    "tables with returns": ("a.md", "", "a|" * 64 + "\r" + "-|" * 64 + "\r" + "|\r" * 64 + "\r"),
}
