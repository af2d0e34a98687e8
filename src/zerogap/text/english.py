"""Word lists for the tokeniser and the splitter: prefixes, units, abbreviations, contractions."""

from __future__ import annotations


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


# A hyphen after these belongs to the word.
PREFIXES = listed(
    "anti arch co counter cross e eco ex extra inter intra macro mega meta micro mid mini mis multi neo non over para post pre pro"
    " proto pseudo psycho quasi re semi socio sub super trans tri ultra un under"
)
# Units that are words of their own after a number.
UNITS = listed(
    "am pm a.m. p.m. a.m p.m k m bn mn mm cm km ft sq in lb lbs oz kg mg ml l mph kph mpg hz khz mhz ghz kb mb gb tb kw mw kwh mwh w v"
    " watt watts x p f t hh min mins minute minutes hr hrs hour hours sec secs second seconds day days week weeks month months yr yrs year"
    " years percent pct usd eur million billion people persons"
)
# A period after these belongs to them; to the second group only as it is written.
ABBREVIATIONS = listed(
    "adm approx apt arrv assn asst attn ave bldg blvd brig bros capt cf cmdr co conf corp cpl dept dist div dr drs eg esp etc ext ft"
    " gov govt hon hwy ie inc jr lb lbs lt ltd maj messrs mfg mgr mr mrs ms oz pp prof pvt reps rev sen sens sgt sr st ste sts supt tel"
    " univ viz vol vols vs yrs"
)
WRITTEN_ABBREVIATIONS = listed(
    "al Gen Col Pres Rd Rep Ph Mt Pt Fig Est Sec Spec Va La Op Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
    " Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun"
)
# A name, a number or an example follows these, whatever its first letter is.
EXPECT_MORE = listed(
    "adm. attn. brig. capt. cf. cmdr. col. cpl. dr. drs. e.g. eg. fig. ft. gen. gov. hon. i.e. ie. lt. maj. messrs. mr. mrs. ms. mt. nos."
    " op. p.o. p.s. ph. pres. prof. ps. rep. reps. rev. sen. sens. sgt. st. supt. tel. vol. vs."
)
# A sentence may end with these: it does if a capital follows. After other abbreviations it does if one of the beginnings does.
MAY_END = listed("a.m. ave. blvd. d.c. etc. info. jr. l.l.c. ltd. p.m. rd. sr. u.s.a. yrs.")
BEGINNINGS = listed(
    "A After All Also An And As At But By For From He Her His How However I If In It My No Now On Our She So That The Their Then There"
    " These They This Those To Was We What When Where While Who Why With Yes You Your"
)
TIME_ZONES = listed("CDT CET CST EDT EST GMT MDT MST PDT PST UTC TO")
VALEDICTIONS = listed("best cheers love regards respectfully sincerely thanks truly wishes yours")

TOP_DOMAINS = listed("com org net edu gov mil info biz co.uk org.uk ac.uk com.au co.nz co.jp")
FILE_ENDINGS = listed(
    "doc docx xls xlsx ppt pptx pdf txt rtf csv zip gz tar exe dll htm html php asp aspx jsp xml json yaml js css py java jpg"
    " jpeg png gif bmp svg mp3 mp4 wav avi mov mpg wmv url ini log bak conllu"
)

# What is written as one word, and where it is cut.
TOGETHER = {
    "cannot": 3, "gonna": 3, "wanna": 3, "gotta": 3, "outta": 3, "sorta": 4, "im": 1, "ive": 1, "youre": 3, "theyre": 4, "youve": 3,
    "theyve": 4, "weve": 2, "youll": 3, "theyll": 4, "itll": 2, "thats": 4, "theres": 5, "whats": 4, "hes": 2, "shes": 3, "elses": 4,
    "dont": 2, "didnt": 3, "doesnt": 4, "isnt": 2, "arent": 3, "arnt": 2, "wasnt": 3, "werent": 4, "wont": 2, "wouldnt": 5, "couldnt": 5,
    "shouldnt": 6, "cant": 2, "havent": 4, "hasnt": 3, "hadnt": 3, "aint": 2,
}  # fmt: skip
# What has an apostrophe and is one word all the same.
WHOLE = listed("y'all ya'll o'clock ma'am")
# its, your and lets that are meant for it's, you're and let's are known by the next word.
MEANT = {
    "its": listed(
        "a about all also always an at been called for from getting going i in just like my never no not nothing now on only"
        " probably really simply so still that the their this too very we worth you your"
    ),
    "your": listed("a going gonna in looking not on so the welcome"),
    "lets": listed("be do face get go hope just keep look make not say see start take talk try"),
}
