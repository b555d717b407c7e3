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
    '"a",', "\\", '\\"', "\\u0000", "1e1", "0", "-0.", "null,", "It rained. ",
]  # fmt: skip
