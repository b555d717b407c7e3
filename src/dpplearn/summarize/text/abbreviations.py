"""Words with a period that need not end a sentence, by what may follow them: in lower case, without the period."""

from dpplearn.summarize.text.characters import word_set as _words

# Stand before a name.
TITLES = _words(
    "mr mrs ms mx messrs dr drs prof gen col lt sgt capt cmdr cdr adm maj pvt pfc cpl brig rev hon sen sens rep reps "
    "gov govs lieut pres st ste sts msgr supt det insp atty asst dist dep amb sec supt mt mts ft pt fr sr sra srta dra "
    "mme mlle mmes sig sigg dott frl hr nr ing mgr bc sv проф акад ул гр св डॉ श्री प्रो"
)
# Stand before a name or a clause: never the end.
NEVER = _words("vs v cf viz e.g i.e eg ie approx esp incl resp bzw vgl u.a z.b d.h ca np tzv tzn mio mrd т.е")
# Stand before a number; elsewhere they are words or ends of sentences.
NUMBERED = _words(
    "no nos p pp vol vols fig figs eq eqs sec secs art arts ch chap para paras pt op nr num n° godz č str s pop tel "
    "ext rs apt rm ft hrs bk"
)
MONTHS = _words("jan feb febr mar apr jun jul aug sep sept oct nov dec")
DAYS = _words("mon tue tues wed thu thur thurs fri sat sun")
# Follow a name; a sentence may end with them.
SUFFIXES = _words(
    "inc corp co cos ltd bros jr sr plc llc mfg assn dept univ intl natl govt gmbh cie esq ave blvd rd hwy pkwy al etc "
    "ala ariz ark calif colo conn del fla ga ill ind kan ky la mass md mich minn miss mo mont neb nev okla ont ore pa "
    "que tenn tex va vt wash wis wyo est dist ext ed eds trans repr"
)
# Of those that stand before a number, the ones that may stand before a Roman one.
PARTS = _words("vol vols ch chap art arts pt op bk")
# Written in lower case these are words, not abbreviations.
CAPITALIZED = _words(
    "gen col rep reps gov hon fr det pres sen amb ste mt ft pt st sec adm cos co la ill ind miss mass ore wash del me "
    "mo va pa ark mar sun sat mon wed fri thu jun jul dec sep jan nov oct tex ga ala hr nr ing dist dep asst brig ext"
)
DATES = (
    MONTHS
    | DAYS
    | _words(
        "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
        "september october november december"
    )
)
ZONES = _words("est edt cst cdt mst mdt pst pdt gmt utc bst cet cest ist jst et ct pt eastern central pacific mountain")
GERMAN_MONTHS = _words(
    "januar februar märz april mai juni juli august september oktober november dezember jänner jahrhundert"
)
# Words that begin sentences and are not names, as they stand after "U.S." or an initial.
STARTERS = _words(
    "the this that these those there then they their he she it its his her we our you your my i a an and as at after "
    "all also although another any are because been before both but by did do does during each even every few for "
    "from had has have how however if in instead is it's into last many may meanwhile more most much neither no nobody "
    "none nor not nothing now of on once one only or other others over per several since so some soon still such than "
    "that's though through thus to today two three four five six under until up was were what when where whether "
    "which while who whose why will with without would yet"
)
# Of those, the ones that no family is called.
ARTICLES = _words("the this these that there then they it its we but their his her our your what when where which if")
PRONOUNS = _words("he she it they we i you this that these those the a an")
SPEECH = _words(
    "said says say asked asks shouted shouts yelled cried replied answered added wondered told wrote called exclaimed "
    "screamed demanded continued whispered joked recalled explained declared insisted asking"
)
