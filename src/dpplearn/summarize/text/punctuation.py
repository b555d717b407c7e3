"""Punctuation of many scripts, by what it does to a sentence."""

# End a sentence before white space, if what follows can begin one.
SPACED = ".!?…‥‼⁇⁈⁉‽"
# End it whatever follows: Arabic, Urdu, Devanagari, Armenian, Ethiopic, Khmer, Burmese, CJK; U+037E is Greek.
ALWAYS = "؟۔।॥։።፧។៕။。！？｡\u037e"
STOPS = SPACED + ALWAYS

CLOSERS = ")]}”’›」』）】〕》〉］｝＂"  # end with the sentence they follow
EITHER = "\"'“‘«»„‚"  # open or close: what stands next to them tells
OPENERS = "([{‹「『（【〔《〈［｛¿¡`"
DASHES = "-–—―_"
