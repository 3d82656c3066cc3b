"""Names that most people know, in small letters: what chats write without a capital is told from common words by them.

Of people, places and workplaces only common ones; a rare name is read where its sentence leaves no doubt ("is called").
"""

from __future__ import annotations

from typing import Final

_GIVEN: Final = """
aaliyah aaron abby abdul abigail abraham ada adam adele adrian agnes ahmed aisha akira alan albert alec alejandro
alex alexa alexander alexandra alexis alfie ali alice alicia alina alison allison alma amanda amara amber amelia
amelie amina amir amit amy ana anastasia anders andre andrea andreas andrei andrew andy angela angelina anika anita
anja ann anna anne annika antoine anton antonio anya arjun arthur ashley astrid audrey ava axel ayesha barbara bart
bea beatrice beatriz ben benjamin bernard beth betty bianca bilal bill billy bjorn bob bogdan boris brad brandon
brenda brian bridget bruce bruno bryan caitlin callum camilla camille carl carla carlos carmen carol carolina
caroline catherine cecilia celine charles charlie charlotte chen chiara chidi chloe chris christian christina
christine christopher claire clara claudia clement colin connor craig cristina cynthia daisy damian dan dana daniel
daniela danny daria darren dave david dean deborah declan deepak denis dennis derek diana diego dieter dimitri
dmitri dominic donna doreen doris dorothy doug duncan dylan ed eddie edith eduardo edward eileen elaine eleanor
elena eli elias elif elijah elin elise elizabeth ella ellen ellie elsa emil emilia emily emma enrique eric erica
erik erika erin ernest esther ethan eva evan eve evelyn fabian fatima felix fernando finn fiona flora florence fran
frances francesca francis francisco franco frank fred freddie frederick freya frida gabriel gabriela gareth gary
gavin geoff george georgia georgina gerard gianni giles gina giovanni giulia gloria gordon goran graham greg greta
guido gus gustav hamza hannah hans haruto harriet harry harvey hassan heather heidi helen helena helga henri henrik
henry hiro holly hugo hussein ian ibrahim ida igor ike ilse imran ines ingrid irene irina iris isaac isabel isabella
isla ivan ivy jack jackie jacob jade jake james jamie jan jana jane janet janice jason javier jay jean jeff jen
jenna jennifer jenny jeremy jess jesse jessica jill jim jimmy jo joan joanna joanne joao joe joel johan johanna john
johnny jonah jonas jonathan jordan jorge jose josef joseph josh joshua josie joyce juan juanita judith judy jules
julia julian juliana julie juliet julio jun jurgen justin justine kai kamal karen karim karin karl karolina kate
katherine kathleen kathy katie katja katrin kavita kayla keith kelly ken kenji kenneth kerry kevin khalid kim kofi
kristen kristin kumar kurt kyle lars laszlo latifa laura lauren laurence lea leah lee leila lena leo leon leona
leonardo leonie lewis li liam lidia lily lina linda lindsay ling lisa liv liz lola lorenzo louis louisa louise luca
lucas lucia lucy luigi luis luisa luka lukas luke luna lydia lynn magda maggie magnus mahmoud maia malcolm manuel
marc marcel marcin marco marcus marek margaret margot maria mariam marianne marie marina mario marion marta martha
martin martina marty mary mateo mathilde matt matteo matthew matthias maurice mauro max maxine maya mei mel melanie
melissa mercedes mia michael michelle miguel mika mike mikhail mila milan milo mina miranda miriam mohammed moira
molly monica monika morgan moritz muhammad murray mustafa nadia nadine nala naomi natalia natalie natasha nathan
nathaniel neil nell nia niall nicholas nick nico nicola nicolas nicole nigel nikita nikolai nils nina noah noel
noemi noor nora norman nuria odile oksana olaf ole oleg olga oliver olivia olu omar orla oscar otto owen pablo paddy
pam pamela paolo pascal patricia patrick paul paula pauline pavel pedro peggy penelope penny pete peter petra phil
philip philippa phoebe pierre piet pieter pilar piotr polly priya rachel radek rafael raj rajesh ralph ramon rania
raul ravi ray raymond rebecca reggie rene renee rex ricardo richard rick ricky rita rob robert roberta roberto robin
rodrigo roger roisin roland roman romeo ron ronan ronnie rory rosa rosie ross roy ruben rupert russell ruth ryan
sabine sabrina sadia sally sam samantha samir samuel sandra sandy sanjay santiago sara sarah sasha saul scott sean
sebastian selma serena sergei sergio seth shane shannon sharon sheila shirley sibel sid sigrid silvia simon simone
sofia soledad sonia sophia sophie soren stacey stan stefan stefania stella stephanie stephen steve steven stuart sue
sunita susan susanna susie suzanne sven sylvia tamara tamsin tania tanya tariq tasha tatiana ted teresa terry tess
tessa thandi theo theresa thomas tilda tim timothy tina tobias toby todd tom tomas tomasz tommy toni tony tove tracy
trevor tristan trudy uma umar ursula valentina valeria vanessa vera veronica vicky victor victoria vijay vikram
viktor vince vincent violeta vivian vlad vladimir walter wanda wendy werner wes wilhelm william wilma wolfgang
xavier yan yasmin yasmine yiannis yolanda yosef yuki yuri yusuf yves yvette yvonne zach zachary zadie zahra zainab
zara zeynep zoe zofia zsofia
"""
GIVEN: Final = frozenset(_GIVEN.split())
"""First names that are no common words."""

_GIVEN_WORDS: Final = """
april art bea bella bill carol charity chase chip clay coco dawn dean destiny drew faith flora frank gene ginger
grace grant hazel heather hope hunter ivy jack jade jewel joy june lily luna mark may melody miles miso mo nick
olive pat pearl penny pepper pierce poppy ray rich rob rose ruby rusty sandy scarlett sky skye sterling summer sunny
violet ward will willow
"""
GIVEN_WORDS: Final = frozenset(_GIVEN_WORDS.split())
"""First names, of people and pets, that are common words too: they are read where a name must stand."""

_PLACES: Final = """
aarhus, aberdeen, abu dhabi, accra, adelaide, afghanistan, africa, albania, alberta, aleppo, alexandria, algeria,
algiers, alicante, amman, amsterdam, angola, ankara, antalya, antwerp, argentina, arizona, armenia, asia, asturias,
athens, atlanta, auckland, austin, australia, austria, azerbaijan, bali, baltimore, bangalore, bangkok, bangladesh,
barcelona, bari, basel, bavaria, beijing, beirut, belarus, belfast, belgium, belgrade, bergen, berlin, bern, bilbao,
birmingham, bogota, bolivia, bologna, bolton, bordeaux, bosnia, boston, botswana, bournemouth, bradford, bratislava,
brazil, bremen, brighton, brisbane, bristol, brittany, brooklyn, bruges, brussels, bucharest, budapest, buenos
aires, buffalo, bulgaria, burma, cairo, calgary, california, cambodia, cambridge, cameroon, canada, canberra, cape
town, caracas, cardiff, casablanca, catalonia, charleston, chennai, chicago, chile, china, christchurch, cincinnati,
cleveland, cologne, colombia, colombo, colorado, copenhagen, cornwall, costa rica, coventry, crete, croatia,
croydon, cuba, cyprus, czechia, dakar, dallas, damascus, delhi, denmark, denver, derby, derry, detroit, devon,
dhaka, doha, dortmund, dresden, dubai, dublin, dubrovnik, dundee, durban, durham, dusseldorf, ecuador, edinburgh,
egypt, eindhoven, england, eritrea, essen, essex, estonia, ethiopia, europe, exeter, fiji, finland, florence,
florida, france, frankfurt, galway, gdansk, geneva, genoa, georgia, germany, ghana, ghent, glasgow, gothenburg,
granada, graz, greece, grenoble, groningen, guadalajara, guatemala, guangzhou, hackney, haifa, halifax, hamburg,
hangzhou, hanoi, hanover, harare, havana, hawaii, helsinki, hiroshima, honduras, hong kong, houston, hungary,
hyderabad, iceland, idaho, illinois, india, indiana, indonesia, innsbruck, inverness, iowa, iran, iraq, ireland,
islamabad, israel, istanbul, italy, ivory coast, jaipur, jakarta, jamaica, japan, jerusalem, johannesburg, jordan,
kabul, kansas, karachi, kathmandu, kazakhstan, kent, kentucky, kenya, kerala, kiev, kigali, kingston, kolkata,
korea, kosovo, krakow, kuala lumpur, kuwait, kyiv, kyoto, lagos, lahore, lancaster, las vegas, latvia, lausanne,
lebanon, leeds, leicester, leiden, leipzig, leuven, liberia, libya, lille, lima, limerick, lisbon, lithuania,
liverpool, ljubljana, london, los angeles, louisiana, lublin, lucerne, luxembourg, lviv, lyon, lyons, macedonia,
madagascar, madrid, malaga, malawi, malaysia, mali, mallorca, malmo, malta, manchester, manila, maputo, marrakesh,
marseille, maryland, massachusetts, melbourne, memphis, mexico, mexico city, miami, michigan, milan, minneapolis,
minnesota, minsk, mississippi, missouri, moldova, monaco, mongolia, montana, montenegro, monterrey, montevideo,
montpellier, montreal, morocco, moscow, mozambique, mumbai, munich, munster, myanmar, nagoya, nairobi, namibia,
nanjing, nantes, naples, nashville, nebraska, nepal, netherlands, nevada, new delhi, new jersey, new mexico, new
orleans, new york, new york city, new zealand, newcastle, nicaragua, nigeria, norfolk, normandy, north carolina,
northampton, northern ireland, norway, norwich, nottingham, nuremberg, odessa, ohio, oklahoma, oman, ontario,
oregon, osaka, oslo, ottawa, oxford, padua, pakistan, palermo, palestine, panama, paraguay, paris, pennsylvania,
perth, peru, philadelphia, philippines, phoenix, pisa, pittsburgh, plymouth, poland, portland, porto, portsmouth,
portugal, poznan, prague, preston, pretoria, puerto rico, qatar, quebec, queens, quito, reykjavik, rhode island,
riga, rio de janeiro, riyadh, romania, rome, rotterdam, russia, rwanda, sacramento, salzburg, san diego, san
francisco, san jose, santiago, sao paulo, são paulo, sapporo, sarajevo, sardinia, saudi arabia, scotland, seattle,
senegal, seoul, serbia, seville, shanghai, sheffield, shenzhen, sicily, sierra leone, singapore, slovakia, slovenia,
sofia, somalia, south africa, south carolina, south korea, southampton, spain, sri lanka, st petersburg, stockholm,
strasbourg, stuttgart, sudan, surrey, sussex, swansea, sweden, switzerland, sydney, syria, taipei, taiwan, tallinn,
tampere, tanzania, tbilisi, tehran, tel aviv, tennessee, texas, thailand, the hague, the netherlands, tibet, tokyo,
toronto, toulouse, trieste, trondheim, tunis, tunisia, turin, turku, uganda, ukraine, ulm, uruguay, utah, utrecht,
uzbekistan, valencia, vancouver, venezuela, venice, verona, vienna, vietnam, vilnius, virginia, wales, warsaw,
washington, wellington, wigan, wimbledon, winnipeg, wolverhampton, wroclaw, wuhan, yemen, york, yorkshire, yokohama,
zagreb, zambia, zaragoza, zimbabwe, zurich, the uk, the us, the usa, the states
"""
PLACES: Final = frozenset(" ".join(place.split()) for place in _PLACES.split(","))
"""Cities, countries and regions."""

_PLACE_WORDS: Final = """
bath bend brest bury chad cork crewe deal derby essen guinea hove hull kiel male march mobile nice orange reading
rugby sale sandwich slough split surprise turkey ware wells
"""
PLACE_WORDS: Final = frozenset(_PLACE_WORDS.split())
"""Places that are common words too: they are read where somebody lives, or has moved to."""

_WORKPLACES: Final = """
Accenture, Adidas, Adobe, Airbnb, Airbus, Aldi, Alibaba, Amazon, AMD, Apple, Asda, AstraZeneca, Aviva, Barclays,
BASF, Bayer, BBC, the BBC, BMW, Boeing, Booking, Bosch, British Airways, BT, Burger King, ByteDance, Carrefour,
Cisco, Citibank, Coca-Cola, Costa, Costco, Credit Suisse, Danone, Decathlon, Deliveroo, Dell, Deloitte, Deutsche
Bahn, Deutsche Bank, DHL, Disney, eBay, EDF, Ericsson, Facebook, FedEx, Ford, GitHub, Goldman Sachs, Google,
Greenpeace, Greggs, Heineken, Home Depot, Honda, HP, HSBC, Huawei, IBM, IKEA, ING, Intel, JP Morgan, KLM, KPMG,
Lego, Lenovo, LG, Lidl, LinkedIn, Lloyds, Lufthansa, Maersk, Mastercard, McDonald's, McKinsey, Mercedes, Meta,
Microsoft, Monzo, Morrisons, NASA, NatWest, Nestle, Netflix, the NHS, NHS, Nike, Nintendo, Nokia, Novartis, NVIDIA,
OpenAI, Oracle, Oxfam, Panasonic, PayPal, Pepsi, Pfizer, Philips, Pizza Hut, Porsche, Primark, PwC, Qualcomm, Red
Cross, the Red Cross, Renault, Revolut, Roche, Rolls-Royce, Ryanair, Safeway, Sainsburys, Salesforce, Samsung, SAP,
Shell, Shopify, Siemens, Siemens Energy, Sony, SpaceX, Spotify, Stripe, Subway, Tencent, Tesco, Tesla, Thales,
TikTok, T-Mobile, Toyota, Twitter, Uber, UBS, Unicef, Unilever, UPS, Verizon, Visa, Vodafone, Volkswagen, Volvo,
Waitrose, Walmart, Wells Fargo, WhatsApp, Wise, Zalando, Zara, Boots, the UN, the EU
"""
WORKPLACES: Final = {name.lower(): name for name in (" ".join(name.split()) for name in _WORKPLACES.split(","))}
"""Firms and the like, each as it is written; read where somebody works, begins or leaves."""
