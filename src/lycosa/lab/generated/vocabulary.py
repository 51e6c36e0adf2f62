"""The words of the generated webs: twelve topics written by hand, any number more made of syllables.

Each topic's words are in order of use: a page draws them by a Zipf law, so the first few come up all the
time. Topics are next to those they are easily confused with; neighbours lend each other words
(`vocabularies`), which makes near-misses for judges that only count keywords.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TopicVocabulary:
    name: str
    keywords: str
    """How a person would ask for it: a few of its commonest words in a phrase."""
    words: tuple[str, ...]
    """Most used first."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _topic(name: str, keywords: str, words: str) -> TopicVocabulary:
    return TopicVocabulary(name=name, keywords=keywords, words=_words(words))


TOPICS = (
    _topic(
        "cycling",
        "recreational cycling and touring bicycles",
        """bicycle cycling touring recreational cyclist pedal wheel saddle gear ride chain brake handlebar tyre
        pannier derailleur frame helmet spoke crank velo tandem cadence sprocket mudguard rim hub fork randonneur
        cassette headset puncture peloton climb descent bikepacking gravel criterium freewheel chainring luggage
        innertube pump valve dynamo kickstand recumbent velodrome commuting paceline bidon cleat jersey steerer
        seatpost shifter drivetrain roadside gradient towpath""",
    ),
    _topic(
        "railways",
        "railways and steam locomotives",
        """railway locomotive steam train track station carriage signal timetable gauge freight platform junction
        boiler driver tunnel viaduct wagon passenger diesel coupling sleeper siding express branchline narrow
        electric rail depot turntable tender bogie firebox pantograph catenary points conductor guard whistle
        shunting embankment cutting terminus footplate railcar ballast crossing semaphore piston heritage cog
        funicular tramway multiple underframe bufferstop railwayman ticket waterstop interlocking""",
    ),
    _topic(
        "sailing",
        "sailing boats and yacht cruising",
        """sailing yacht sail boat cruising mast harbour wind keel rudder hull anchor deck rigging skipper crew
        mooring tide helm regatta jib mainsail spinnaker halyard dinghy buoy boom port starboard bow stern
        navigation catamaran leeward windward tack gybe knot chart bilge cabin marina ketch sloop schooner
        shroud winch sheet reef genoa compass lighthouse squall swell berth bowsprit tiller cleating offshore
        fairway""",
    ),
    _topic(
        "birds",
        "wild birds and birdwatching",
        """bird birdwatching feather nest species wing migration song plumage warbler finch owl hawk wader
        binoculars hide beak flock egg wetland sparrow robin heron gull tern kestrel falcon swallow thrush
        woodpecker nestling fledgling breeding habitat ringing sighting raptor duck goose swan plover curlew
        sandpiper lark wren nightingale cuckoo jay magpie crow raven osprey eagle roost chick moult passerine
        ornithology reedbed""",
    ),
    _topic(
        "astronomy",
        "amateur astronomy and telescopes",
        """astronomy telescope star planet galaxy nebula amateur orbit moon eclipse comet observatory sky
        constellation mirror eyepiece meteor jupiter saturn mars venus mercury cluster magnitude aperture
        refractor reflector mount supernova spectrum asteroid solar lunar crater ecliptic equinox solstice
        zenith parallax redshift quasar pulsar neptune uranus dobsonian collimation seeing starlight
        transit occultation corona sunspot declination ascension messier andromeda orion dwarf cosmology
        interstellar""",
    ),
    _topic(
        "photography",
        "photography cameras and lenses",
        """photography camera lens film exposure shutter aperture photograph light portrait focus negative
        darkroom tripod flash print developer filter landscape composition sensor focal contrast grain
        viewfinder zoom telephoto macro studio enlarger fixer emulsion silver gelatin bokeh pixel raw histogram
        monochrome rangefinder reflex bellows tonal highlight shadow backlight softbox reflector snapshot album
        cyanotype daguerreotype polaroid slide scanner retouching vignette parallax sharpness bracketing
        panorama""",
    ),
    _topic(
        "geology",
        "geology of rocks and minerals",
        """geology rock mineral fossil sediment crystal volcano basalt granite limestone strata quartz erosion
        fault sandstone magma lava tectonic plate glacier shale metamorphic igneous outcrop feldspar mica
        slate marble calcite gypsum ammonite trilobite jurassic cretaceous permian cambrian devonian moraine
        gneiss schist ore vein lode clay earthquake seismic mantle crust fold syncline anticline bedding
        hammer unconformity stratigraphy geode pumice obsidian flint karst""",
    ),
    _topic(
        "pottery",
        "pottery glazes and ceramic kilns",
        """pottery clay glaze kiln ceramic potter pot wheel firing stoneware porcelain bowl earthenware slip
        raku vase throwing bisque mug handle oxide cobalt celadon terracotta teapot jug plate trimming coil
        slab sgraffito majolica saltglaze crackle ash feldspar kaolin temper wedging centring burnish
        underglaze lustre shard pinch mould slipware cone studio decoration amphora tile plaster sieve tenmoku
        shino faience thermocouple grog engobe wax""",
    ),
    _topic(
        "gardening",
        "gardening and growing vegetables",
        """garden gardening plant soil seed vegetable flower compost growing pruning shrub lawn border mulch
        rose bulb perennial greenhouse weed hedge sowing seedling tomato bean potato herb watering trowel spade
        wheelbarrow fertiliser manure annual climber fern hosta dahlia tulip daffodil lavender orchard allotment
        slug aphid rake hoe trellis pergola cutting germination rhizome loam frost harvest pea courgette radish
        blossom nectar""",
    ),
    _topic(
        "beekeeping",
        "beekeeping and honey bees",
        """beekeeping bee honey hive queen colony beekeeper swarm apiary comb wax nectar pollen brood worker
        drone frame smoker varroa forage foundation super extractor propolis larva winter feeder nucleus veil
        honeycomb stinger mite apiarist skep requeening langstroth candy sugar bloom clover heather pupa
        royal jelly foulbrood swarming robbing cluster flight pheromone waggle dance excluder beeswax mead
        pollinator crownboard uncapping""",
    ),
    _topic(
        "baking",
        "baking bread and sourdough",
        """bread baking flour dough oven sourdough yeast loaf crust cake butter sugar recipe starter kneading
        rye crumb pastry wheat bake baker proofing salt biscuit baguette hydration gluten wholemeal brioche
        croissant tin bun roll batter cream egg vanilla chocolate icing sponge tart pie scone muffin levain
        autolyse scoring banneton poolish spelt caraway sesame sieve whisk rollingpin focaccia ciabatta
        pretzel shortbread frosting""",
    ),
    _topic(
        "chess",
        "chess openings and endgames",
        """chess pawn knight bishop rook queen king opening endgame checkmate move board player tournament
        gambit castling tactics grandmaster defence attack rating stalemate sacrifice pin square rank file
        diagonal sicilian variation position fianchetto zugzwang promotion check blunder clock blitz
        combination exchange middlegame notation studies puzzle champion match draw tempo passed isolated
        doubled outpost initiative capture correspondence engine simultaneous adjournment arbiter
        fortress""",
    ),
)

GENERAL = _words(
    """the of and to a in is that it for was on with as be by at this have from or had an but not they his
    which you were all we her she there would their will when who him been has more if no out so said what up
    its about into than them can only other new some could time these two may then do first any my now such
    like our over man me even most made after also did many before must through back years where much your way
    well down should because each just those people how too little state good very make world still own see
    men work long get here between both life being under never day same another know while last might us great
    old year off come since against go came right used take three states himself few house use during without
    again place around however home small found thought went say part once general high upon school every does
    got united left number course war until always away something fact though water less public put thing
    almost hand enough far took head yet government system better set told nothing night end why called eyes
    find going look asked later knew point next program city business give group toward young days let room
    word side social given present order national second face several rather per possible certain among form
    large hands others early open line often power country important within case big need best family interest
    area sense means office members children service matter past problem study history whole keep report
    company community result reason kind question letter morning street table visit summer paper market
    meeting minute answer idea person friend story corner method detail example chapter page list guide
    review opinion article notice advice price shop letterbox village town river valley mountain north south
    east west road bridge window door floor building library museum theatre council committee society project
    research material quality amount average season weather evening afternoon holiday weekend journal
    magazine editor author reader writer teacher student doctor lawyer engineer manager customer member
    volunteer neighbour visitor guest event programme festival concert exhibition lecture workshop contest
    award budget insurance bank account contract agreement policy rule law tax vote party minister
    parliament region province district county capital border island coast"""
)
GENERAL_NOUNS = GENERAL[GENERAL.index("government") :]
"""The part that can head a page: the words before it are mostly grammar."""

NEUTRAL_NAMES = _words(
    """harbour amber northern silver maple granite meadow river summit lantern copper willow cedar beacon
    juniper falconer orchard mill bridge castle abbey market corner central western golden quiet bright
    hollow crescent lakeside hillside"""
)
"""First halves of host names that tell nothing."""
SITE_NOUNS = _words(
    """news club world pages journal online guide net forum post notes house hub review library weekly
    society daily archive people"""
)
"""Second halves."""

_ONSETS = _words("b br d dr f g gr h k kl l m n p pr r s st t tr v z")
_VOWELS = _words("a e i o u ai ei")
_CODAS = ("", "n", "r", "l", "s", "m")


def _synthetic_topic(number: int) -> TopicVocabulary:
    """A topic of pronounceable words nobody uses; its number alone decides them."""
    rng = random.Random(f"topic {number}")
    words: dict[str, None] = {}
    while len(words) < 60:
        syllables = rng.choice((2, 2, 3))
        stem = "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables))
        words[stem + rng.choice(_CODAS)] = None
    first, second, third, *_ = ordered = tuple(words)
    return TopicVocabulary(name=first, keywords=f"{first} with {second} and {third}", words=ordered)


def topics(count: int) -> tuple[TopicVocabulary, ...]:
    """The first `count` topics."""
    return TOPICS[:count] + tuple(_synthetic_topic(number) for number in range(len(TOPICS), count))


def vocabularies(chosen: tuple[TopicVocabulary, ...]) -> tuple[tuple[str, ...], ...]:
    """Each topic's words with those its two neighbours in the ring lend it, one of them a frequent one."""
    mixed = []
    for number, topic in enumerate(chosen):
        before, after = chosen[number - 1].words, chosen[(number + 1) % len(chosen)].words
        words = [*topic.words[:5], before[2], *topic.words[5:9], after[3], *topic.words[9:]]
        words += [*before[10:14], *after[14:18]]
        mixed.append(tuple(dict.fromkeys(words)))
    return tuple(mixed)
