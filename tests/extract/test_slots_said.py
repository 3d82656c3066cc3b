"""What people plainly say of themselves, in their several ways: what is so, what is over, and what is not said."""

from __future__ import annotations

import pytest

from mnemic.core.clock import micros
from mnemic.core.timex import parse_said
from mnemic.extract.slots import slots

SAID = micros(parse_said("2025-05-20T12:00:00+00:00", zone=None)[0])

STATED = """
we've moved, it's Portobello now | city | Portobello
we've moved, it's Portobello now, two mins from the beach! need a letter for the bank | city | Portobello
moved! it's Leith now | city | Leith
We've moved! It's Leith now. | city | Leith
We moved. It's Leith these days. | city | Leith
we finally moved house, we're in Portobello now | city | Portobello
I've moved, I'm in Leeds now | city | Leeds
I work for St Anne's. | employer | St Anne's
I work at St Anne's as a nurse. | employer | St Anne's
I've been working at St Anne’s for a year. | employer | St Anne's
I work for St. Anne's Hospice in Leeds. | employer | St. Anne's Hospice
I'm working at McDonald's now. | employer | McDonald's
I've joined Macy's. | employer | Macy's
I study at St John's. | school | St John's
I study at St John's College. | school | St John's College
I work for Google, it's fun. | employer | Google
I work at Google's London office. | employer | Google
Moved house, now in Bath. | city | Bath
just moved - Leith now | city | Leith
We've relocated, it's Oslo for us now | city | Oslo
we've moved house: Leith it is | city | Leith
I've moved again, this time to Leeds | city | Leeds
we moved last month to Oslo | city | Oslo
I moved yesterday to Utrecht. | city | Utrecht
I've moved into a flat in Leith | city | Leith
we moved into our new house in Bath last week | city | Bath
I've moved over to Glasgow | city | Glasgow
we've upped sticks to Devon | city | Devon
our flat in Leith has damp again | city | Leith
our flat in Leith is freezing, how do i bleed a radiator | city | Leith
my place in Hackney got burgled last night | city | Hackney
the boiler at our house in Bath broke | city | Bath
my apartment in Boston is tiny | city | Boston
there's mould in our flat in Leith again | city | Leith
Our new house in York needs a roof. | city | York
搬家了，现在住杨浦 | city | 杨浦
我们搬家了，现在住在杨浦 | city | 杨浦
搬家啦！现在住杨浦了。 | city | 杨浦
我搬家了，现在在杨浦。 | city | 杨浦
刚搬了家，住在徐汇 | city | 徐汇
搬新家了，在松江 | city | 松江
我们在杨浦的房子又漏水了 | city | 杨浦
我在徐汇的家暖气坏了 | city | 徐汇
我们租的房子在滨江，暖气片不热怎么办 | city | 滨江
我家在浦东的房子漏水 | city | 浦东
我租的房子在滨江 | city | 滨江
我们杨浦的房子又漏水了 | city | 杨浦
搬到北京第三周了，还在适应。 | city | 北京
搬到昆山半年了。 | city | 昆山
我搬到义乌都两年了。 | city | 义乌
搬到常熟已经第二年了 | city | 常熟
搬到成都那天下大雨。 | city | 成都
我住在昆山好几年了。 | city | 昆山
到上海都半年了。 | city | 上海
来深圳第二个月，房租好贵。 | city | 深圳
我来广州打工五年了。 | city | 广州
在成都住了三年了。 | city | 成都
我重新住回上海了。 | city | 上海
我跟小王又在一起了。 | partner | 小王
我和李娜复婚了。 | partner | 李娜
我已经退休三年了。 | job | 退休
Mia and I got back together. | partner | Mia
I got back together with Mia. | partner | Mia
I rejoined Siemens. | employer | Siemens
I'm back at Siemens. | employer | Siemens
I went back to Spanish, Italian wasn't for me. | learning | Spanish
I'm back to learning Spanish. | learning | Spanish
I went back to being vegan. | diet | vegan
I changed my number, it's 07700 900456 now. | phone_number | 07700 900456
Traded the Skoda for an electric Kia Niro. | car | electric Kia Niro
换了新号码，13900002222。 | phone_number | 13900002222
昨晚才发现我对虾也过敏。 | allergy | 虾
I live in Lyon, near the river. | city | Lyon
we live just outside Bristol | city | Bristol
I'm living in Tokyo at the moment. | city | Tokyo
I'm based in Berlin these days. | city | Berlin
My partner and I live in Montreal. | city | Montreal
Mia and I moved to Leeds last year. | city | Leeds
We just relocated to Toronto. | city | Toronto
Big news: I moved to Austin! | city | Austin
I've lived in Nairobi for ten years. | city | Nairobi
We recently moved back to Cape Town. | city | Cape Town
As of Monday I live in Graz. | city | Graz
I'm renting a room in Utrecht. | city | Utrecht
I finally moved from Paris to New York City. | city | New York City
I grew up in a small place but I'm from Peru. | origin | Peru
My address is 12 Baker Street, London. | address | 12 Baker Street, London
I live at 48 Elm Road. | address | 48 Elm Road
I work for Google. | employer | Google
I work at a bakery. | employer | a bakery
I'm working at Deloitte now. | employer | Deloitte
I just started at Spotify. | employer | Spotify
I got a new job at Shell. | employer | Shell
I switched to Fenwick Labs in the spring. | employer | Fenwick Labs
I've been working at Siemens since 2019. | employer | Siemens
I'm a nurse. | job | nurse
I work as a data scientist. | job | data scientist
I'm a plumber by trade. | job | plumber
I got promoted to senior manager. | job | senior manager
I'm self-employed. | job | self-employed
I retired last year. | job | retired
I'm studying law at Oxford. | studies | law
I'm majoring in biology. | studies | biology
I study medicine in Ghent. | studies | medicine
I'm a physics student. | studies | physics
I switched majors from law to history. | studies | history
I graduated from Yale. | school | Yale
My phone number is 0163 555 2081. | phone_number | 0163 555 2081
My new number is +49 171 5559934. | phone_number | +49 171 5559934
You can reach me on 020 7946 0018. | phone_number | 020 7946 0018
My new email is ada@new.example. | e-mail | ada@new.example
Write to me at ada@home.example. | e-mail | ada@home.example
My wife Clara is a doctor. | partner | Clara
I'm married to Tom. | partner | Tom
Tom and I got married in June. | partner | Tom
I'm dating Alex. | partner | Alex
Hedda is my girlfriend. | partner | Hedda
My boyfriend is called Sam. | partner | Sam
I got divorced last year. | marital_status | divorced
We got engaged yesterday! | marital_status | engaged
I'm single again. | marital_status | single
My boss is Karen. | boss | Karen
My new boss is called Miriam Okafor. | boss | Miriam Okafor
My best friend Ravi is visiting. | friend | Ravi
My brother's name is Leo. | brother | Leo
I have two sisters. | family | two sisters
We have three kids. | family | three kids
We have a dog named Biscuit. | pet | Biscuit (dog)
Our cat is called Miso. | pet | Miso (cat)
I have two cats. | pet | two cats
I drive a Toyota Corolla. | car | Toyota Corolla
We bought a Tesla last week. | car | Tesla
My car is a blue Fiat Panda. | car | blue Fiat Panda
I switched to a Pixel 8. | phone | Pixel 8
My phone is an iPhone 15. | phone | iPhone 15
I'm vegan. | diet | vegan
I eat fish again, so I guess I'm pescatarian. | diet | pescatarian
I guess that makes me a pescatarian. | diet | pescatarian
I suppose we're vegan now. | diet | vegan
Guess I'm technically vegetarian these days. | diet | vegetarian
I'm basically pescatarian. | diet | pescatarian
I'm more of a flexitarian these days. | diet | flexitarian
I consider myself a pescatarian. | diet | pescatarian
No meat for me, and I count as vegetarian now. | diet | vegetarian
I'm a pescetarian. | diet | pescetarian
I went vegetarian in January. | diet | vegetarian
We're vegetarians. | diet | vegetarian
I keep kosher. | diet | kosher
I don't eat pork. | avoids | pork
I don't drink alcohol. | avoids | alcohol
I gave up sugar. | avoids | sugar
I quit smoking. | avoids | smoking
I'm allergic to penicillin. | allergy | penicillin
I have a peanut allergy. | allergy | peanut
I have an allergy to dust. | allergy | dust
Shellfish gives me hives. | allergy | Shellfish
I love hiking. | likes | hiking
I'm really into jazz. | likes | jazz
I'm a big fan of old movies. | likes | old movies
I hate cilantro. | dislikes | cilantro
I don't like loud bars. | dislikes | loud bars
I'm not a fan of horror films. | dislikes | horror films
My favourite band is Radiohead. | favourite band | Radiohead
I have asthma. | health | asthma
I was diagnosed with ADHD. | health | ADHD
I'm diabetic. | health | diabetic
I wear glasses. | health | glasses
I take metformin every morning. | medication | metformin
I'm on sertraline. | medication | sertraline
I speak Spanish. | language | Spanish
I'm fluent in Dutch and German. | language | Dutch
I'm learning Japanese. | learning | Japanese
My mother tongue is Tamil. | native_language | Tamil
i live in leeds | city | Leeds
well, i relocated to san diego | city | San Diego
I quit smoking forty days ago. | avoids | smoking
My name is Florence Oakley. | name | Florence Oakley
I changed my name to Robin Vale. | name | Robin Vale
I go by Alex now. | nickname | Alex
Everyone calls me Kit. | nickname | Kit
I'm 41. | age | 41
I just turned 30. | age | 30
My birthday is on 3 March. | birthday | --03-03
My blood type is A negative. | blood_type | A negative
我住在杭州。 | city | 杭州
我现在住在上海浦东。 | city | 上海浦东
我们刚搬到深圳。 | city | 深圳
我上个月搬到了南京。 | city | 南京
我家在西安。 | city | 西安
我跟我老婆住在青岛。 | city | 青岛
刚搬到东莞，还没收拾。 | city | 东莞
我在广州工作。 | city | 广州
我老家在湖南。 | origin | 湖南
我的地址是中山路12号3楼。 | address | 中山路12号3楼
我在腾讯公司上班。 | employer | 腾讯公司
我跳槽到字节跳动了。 | employer | 字节跳动
我从腾讯跳槽去了字节跳动。 | employer | 字节跳动
我现在在阿里工作。 | employer | 阿里
我换了工作，现在在腾讯上班。 | employer | 腾讯
我换工作了，现在是软件工程师。 | job | 软件工程师
上个月我从北京搬到了上海。 | city | 上海
我三月从杭州搬去深圳了。 | city | 深圳
我入职了华为。 | employer | 华为
我是一名护士。 | job | 护士
我是程序员。 | job | 程序员
我升职做经理了。 | job | 经理
我上个月退休了。 | job | 退休
我学的是法律。 | studies | 法律
我考上了复旦大学。 | school | 复旦大学
我的手机号是13812345678。 | phone_number | 13812345678
我换号了，新号码是13987654321。 | phone_number | 13987654321
我的邮箱换成了lin@new.example。 | e-mail | lin@new.example
我女朋友叫小雨。 | partner | 小雨
我老公是王强。 | partner | 王强
我和李明结婚了。 | partner | 李明
我离婚了。 | marital_status | 离婚
我们订婚了。 | marital_status | 订婚
我老板叫陈华。 | boss | 陈华
我有两个姐姐。 | family | 两个姐姐
我养了一只猫。 | pet | 一只猫
我家养了一只狗叫旺财。 | pet | 旺财 (狗)
我开的是比亚迪。 | car | 比亚迪
我买了辆小米SU7，白色的 | car | 小米SU7
提了一辆小米汽车 | car | 小米汽车
买了台小米SU7 | car | 小米SU7
上周提了辆红旗H5 | car | 红旗H5
我开标致 | car | 标致
我的车是标致 | car | 标致
我提了红旗H9 | car | 红旗H9
我买了台红旗 | car | 红旗
买了荣威的车 | car | 荣威的车
我买了苹果手机和电脑 | phone | 苹果手机
我用苹果手机看电视 | phone | 苹果手机
我换了华为手机和手表 | phone | 华为手机
我家有只狗叫来福 | pet | 来福 (狗)
我养了一只狗叫来福 | pet | 来福 (狗)
我养了一只猫叫早早 | pet | 早早 (猫)
我养了一只猫叫看看 | pet | 看看 (猫)
我养了一只猫叫春花 | pet | 春花 (猫)
我养了一只狗叫豆豆了 | pet | 豆豆 (狗)
我养了一只鹦鹉叫早 | pet | 一只鹦鹉
我养了一只狗，叫朋友看了 | pet | 一只狗
买了部小米14 | phone | 小米14
我买了台小米 | phone | 小米
养了一只柴犬叫豆包 | pet | 豆包 (柴犬)
我领养了一条边境牧羊犬，名叫闪电 | pet | 闪电 (边境牧羊犬)
养了一只柴犬，叫声很大 | pet | 一只柴犬
养了一只柴犬，叫人头疼 | pet | 一只柴犬
我换了华为手机。 | phone | 华为手机
我吃素。 | diet | 素
我是鱼素者。 | diet | 鱼素者
我现在改吃鱼素了。 | diet | 鱼素
我又吃鱼了，我算是鱼素吧。 | diet | 鱼素
我不吃香菜。 | avoids | 香菜
我不喝酒。 | avoids | 酒
我戒烟了。 | avoids | 烟
我对花生过敏。 | allergy | 花生
我不是对虾过敏，是对芒果过敏。 | allergy | 芒果
医生说我其实不是对虾过敏，是对芒果过敏。 | allergy | 芒果
上次说错了，我不是对花生过敏，是对腰果过敏。 | allergy | 腰果
我不是对虾过敏，而是芒果 | allergy | 芒果
我不是虾过敏，是芒果过敏 | allergy | 芒果
我不对虾过敏，对芒果过敏。 | allergy | 芒果
我不是对虾，是对芒果过敏 | allergy | 芒果
我过敏的不是虾，是芒果 | allergy | 芒果
原来让我过敏的是芒果，不是虾。 | allergy | 芒果
我是对芒果过敏，不是虾 | allergy | 芒果
我叫林晓，住在成都，在一家出版社当编辑。 | city | 成都
我叫林晓，住在成都，在一家出版社当编辑。 | job | 编辑
大家好，我是林晓，今年28岁，住在杭州。 | city | 杭州
我叫小林，28岁，单身，现在住上海。 | city | 上海
本人男，三十岁，坐标深圳。 | city | 深圳
我叫王芳，是一名护士，住在苏州三年了。 | city | 苏州
我今年30岁，在成都工作。 | city | 成都
我姓陈，在腾讯做产品经理，家在深圳。 | employer | 腾讯
我叫林晓，在一家出版社当编辑，住在成都。 | city | 成都
我叫林晓，在成都的一家出版社当编辑。 | job | 编辑
我叫Amy，四川人，喜欢爬山，住在成都。 | city | 成都
我姓李，住在杭州。 | city | 杭州
我女，28岁，单身，住在武汉。 | city | 武汉
我叫林晓，今年大三，平时喜欢画画，住在武汉。 | city | 武汉
我叫李雷，男，28岁，未婚，坐标深圳，在华为做工程师。 | employer | 华为
我姓陈，叫陈晓，大家叫我小陈，结婚五年了，住在成都。 | city | 成都
我今年三十，住在杭州。 | city | 杭州
我来自四川，现在在上海工作。 | city | 上海
我是做设计的，在上海工作。 | city | 上海
我叫林晓，在腾讯上班的。 | employer | 腾讯
我在腾讯上班的 | employer | 腾讯
我在字节跳动做产品经理的工作 | employer | 字节跳动
我在腾讯上班，朋友的孩子也在 | employer | 腾讯
我在腾讯工作有很好的同事 | employer | 腾讯
我在华为上班的部门是终端 | employer | 华为
我在上海工作有几个不错的朋友 | city | 上海
我在北京上班的公司是字节 | city | 北京
我住在深圳和我的女朋友 | city | 深圳
我住在深圳的南山区 | city | 深圳的南山区
我叫林晓，在腾讯做推荐方面的工作。 | employer | 腾讯
行李都到了，从今天起我就是深圳人啦。 | city | 深圳
从今天起，我就是昆山市人 | city | 昆山市
今天开始我就是成都人了 | city | 成都
从今往后我就是新杭州人了 | city | 杭州
我是深圳人啦 | city | 深圳
终于成了深圳人！ | city | 深圳
我们正式成为苏州市民啦 | city | 苏州
我就是深圳人 | origin | 深圳
我养了一只叫豆包的猫。 | pet | 豆包 (猫)
我家有一只叫豆包的橘猫 | pet | 豆包 (猫)
我领养了只名叫旺财的小柯基 | pet | 旺财 (柯基)
我养了一只会叫的猫 | pet | 一只会叫的猫
我养了一只叫声很大的猫 | pet | 一只叫声很大的猫
New phone: 07700 900777. | phone_number | 07700 900777
new mobile 07700 900777 | phone_number | 07700 900777
New cell number is 555-019-9123 | phone_number | 555-019-9123
New phone no.: 07700 900777 | phone_number | 07700 900777
新手机：13900001111 | phone_number | 13900001111
我对猫毛严重过敏。 | allergy | 猫毛
我喜欢爬山。 | likes | 爬山
我最喜欢吃火锅。 | likes | 吃火锅
我讨厌下雨天。 | dislikes | 下雨天
我有哮喘。 | health | 哮喘
我得了糖尿病。 | health | 糖尿病
我会说法语。 | language | 法语
我在学日语。 | learning | 日语
昨天我搬到了珠海。 | city | 珠海
九月起我是副校长了。 | job | 副校长
我做殡葬这行。 | job | 殡葬
我本科浙江大学。 | school | 浙江大学
我从来没抽过烟。 | avoids | 烟
我叫林晓。 | name | 林晓
我改名叫林一诺了。 | name | 林一诺
大家都叫我阿树。 | nickname | 阿树
我今年三十五岁。 | age | 35
"""

ENDED = """
I took up smoking again. | avoids | smoking
Back on the cigarettes, sadly. | avoids | smoking
I'm smoking again. | avoids | smoking
I'm back on coffee. | avoids | coffee
I've gone back to drinking coffee. | avoids | coffee
唉，又抽上了。 | avoids | 烟
我又喝上酒了。 | avoids | 酒
我又吃上肉了。 | avoids | 肉
I went back to Spanish, Italian wasn't for me. | learning | Italian
I had to give Pickle to my parents. | | Pickle
I gave Pickle up for adoption. | | Pickle
Pickle lives with my parents now. | | Pickle
Pickle was adopted by a family in Kent. | | Pickle
We found Pickle a new home. | | Pickle
We had to rehome Pickle. | | Pickle
I gave my dog away. | | dog
I donated the piano to the school. | | piano
I handed the guitar down to my son. | | guitar
咪咪送人了。 | | 咪咪
我把猫送人了。 | | 猫
豆豆寄养给我妈了。 | | 豆豆
豆豆被人领养了。 | | 豆豆
我把钢琴捐给学校了。 | | 钢琴
I moved out of Paris. | city | Paris
We don't live in Ghent anymore. | city | Ghent
I no longer live in Rome. | city | Rome
I used to live in Madrid. | city | Madrid
I quit my job. | employer |
I quit. | employer |
I don't have a job right now. | employer |
I left my job last week. | employer |
I was laid off in March. | employer |
I got fired yesterday. | employer |
I no longer work at Siemens. | employer | Siemens
I don't work for Google any more. | employer | Google
I resigned from Shell. | employer | Shell
I'm no longer a teacher. | job | teacher
I dropped out of university. | studies |
I graduated in June. | studies |
Mia and I broke up. | partner | Mia
We broke up. | partner |
I broke up with Sam. | partner | Sam
My husband and I separated last month. | partner |
We got divorced. | partner |
My girlfriend left me. | partner |
I sold my car. | car |
We don't have a car. | car |
My dog died. | pet |
Our cat Miso passed away. | pet | Miso (cat)
I'm not vegan anymore. | diet | vegan
I'm no longer vegetarian. | diet | vegetarian
I stopped being vegan. | diet | vegan
I started drinking coffee again. | avoids | coffee
I'm not allergic to cats. | allergy | cats
I outgrew my milk allergy. | allergy | milk
I no longer like jazz. | likes | jazz
I don't like jazz anymore. | likes | jazz
I've gone off coffee. | likes | coffee
I don't have asthma. | health | asthma
I'm off antidepressants. | medication | antidepressants
I don't speak Arabic. | language | Arabic
I stopped learning Japanese. | learning | Japanese
I don't go by Kat any more. | nickname | Kat
我不住在北京了。 | city | 北京
医生说我其实不是对虾过敏，是对芒果过敏。 | allergy | 虾
上次说错了，我不是对花生过敏，是对腰果过敏。 | allergy | 花生
我不是对虾，是对芒果过敏 | allergy | 虾
我过敏的不是虾，是芒果 | allergy | 虾
原来让我过敏的是芒果，不是虾。 | allergy | 虾
我对芒果过敏，不是对虾过敏。 | allergy | 虾
我不是对虾过敏。 | allergy | 虾
我并不是对虾过敏，只是不爱吃 | allergy | 虾
我其实不是花粉过敏，是感冒 | allergy | 花粉
豆包送给我妈养了。 | | 豆包
豆包被我妈接走养了 | | 豆包
豆包现在归我妈养了 | | 豆包
豆包现在住我妈家了 | | 豆包
豆包找到新主人了 | | 豆包
我搬离了上海。 | city | 上海
我辞职了。 | employer |
我被裁员了。 | employer |
我离职了。 | employer |
我不再是老师了。 | job | 老师
我退学了。 | studies |
我们分手了。 | partner |
上周我们分手了。 | partner |
家里没有电视。 | possession | 电视
我跟小雨分手了。 | partner | 小雨
我和李娜上周分手了。 | partner | 李娜
我现在开始喝咖啡了。 | avoids | 咖啡
我和王强离婚了。 | partner | 王强
我把车卖了。 | car |
我没有车。 | car |
我家的猫去世了。 | pet |
我不再吃素了。 | diet | 素
我对花生不过敏。 | allergy | 花生
我不再喜欢咖啡了。 | likes | 咖啡
我没有哮喘。 | health | 哮喘
我不会说英语。 | language | 英语
"""

NOT_SAID = """
我买了一面红旗
我买了红旗连锁的面包
我买了标致的家具
我买了奇瑞的股票
我买了小米电视
买了小米手环配手机
我捡了一只狗，叫医生看了
我家狗叫来朋友看
我家的狗叫起来很吵
我家猫叫醒我了
we've moved the meeting to Leith
I was moved to tears
moved to tears by the film
my flat white in Leith was cold
we've moved on, it's Christmas now
we've moved the sofa, it's perfect now
moved! it's raining now
We moved. It's Monday now.
Callum's moved by the film
Callum's moved to Glasgow
my brother's moved to Leeds
they've relocated to Oslo
My sister has moved. It's Leith now.
we've moved offices, it's Canary Wharf now
the team has moved, it's Slack now
we've moved to Slack
I've moved, I'm in Finance now
Moved house, it's Kevin who helped
We moved. It's Easter now.
my hotel room in Oslo is tiny
我租的房子在装修。
I've moved to a new phone
our hotel in Leith has damp
our place in the queue
our old flat in Leith had damp
our first flat in Leith had damp
my mum's flat in Leith has damp
our holiday home in Cornwall needs paint
I dream of our house in Italy
our new flat in Leith falls through if the bank says no
my flat in Leith is rented out
we visited our house in France
I left my place in Berlin
let out my flat in Leith
my friend's place in Leeds
I'm selling my house in Bath
our house in Bath is up for sale
My parents said our house in Bath is nice
搬家公司在杨浦
他搬家了，现在住杨浦
我弟搬家了，现在住杨浦
搬家了，现在很累
搬家了，现在在收拾
公司搬家了，现在在杨浦
我们在杨浦的房子卖了
我们在杨浦的房子租出去了
我妈在杨浦的房子漏水
以前我们在杨浦的房子漏水
如果搬家了，现在住杨浦就好了
I'd love to live in Rome.
If I move to Oslo I'll sell the car.
I'm moving to Lisbon in June.
We move to Spain next month.
I start at Google on Monday.
I'm getting married in June.
From tomorrow I'm self-employed.
As of next Monday home is Leuven.
I'll be vegan from Monday.
I'm selling the car next week.
I'm about to quit my job.
My last day at Siemens is Friday.
We're going to adopt a dog named Rex.
I'm switching to a Pixel soon.
下个月我搬到深圳。
我下周入职华为。
我们明年结婚。
下个月，我搬到南京。
我准备戒烟。
我要搬到上海了。
我快要退休了。
过几天我就辞职了。
We're thinking of moving to Spain.
I want to work at Google.
I might quit my job.
I'm planning to go vegan next year.
I almost moved to Paris.
My sister lives in Porto.
My boss moved to Dubai.
My friend is allergic to nuts.
Tom quit his job.
She broke up with me in the film.
He said "I live in Dubai".
My boss said: I live in Dubai.
In my dream I lived on the moon.
In the novel I'm writing, I live in Osaka.
Imagine we lived in Hawaii.
Do I live in Rome?
What if I sold the car?
I wish I spoke Greek.
I hope I'm not allergic to cats.
Maybe I'm vegan at heart.
I live for the weekend.
I live in fear.
i live in fear
i live in my car
i moved to sales
I work for a living.
I work at night.
I love it here.
I'm dying to see Rome.
I'm into it.
I left the keys at home.
I left London at noon by train.
We sold out of tickets.
I broke the vase.
I'm from the agency that called.
I drive too fast.
I take the bus.
I have a question.
I have a cold.
You should move to Berlin.
You can call me tomorrow.
My number one rule is honesty.
I study hard.
I quit the app and reopened it.
I'm not in the mood.
I'm single-handedly rebuilding the shed.
I speak for everyone.
I go by train.
Delete my old address.
Remember when I lived in Rome?
要是我住在成都就好了。
我想搬到大理。
我打算明年去上海工作。
我姐姐住在南京。
我有个朋友叫林晓，住在成都。
我是林晓的妹妹，住在成都
我是来出差的，住在北京
如果我叫林晓，住在成都
小说里我叫林晓，住在成都
我女儿今年毕业，在上海工作。
我女儿二十岁，是老师。
我女儿二十岁，住在杭州。
我男友今年三十，住在杭州。
我女朋友二十八岁，在腾讯上班。
我女同学今年毕业，在上海工作。
我男上司四十岁，住在杭州。
我姓李的房东，住在上海。
我今年带的徒弟，在上海工作。
我今年招了个徒弟，在上海工作。
我今年去了东京，在腾讯上班的同学请我吃饭。
我在腾讯上班的同学请我吃饭
我在腾讯做产品的同学请我吃饭
我在腾讯公司工作了三年的室友搬走了
我住在深圳的表哥来了
我住深圳的表哥来了
我在上海工作的妹妹寄来一盒蟹
我在上海工作的时候认识了她
我住北京的大哥来了
我住在北京的一位同学来了
我家在上海的同学来了
我在腾讯上班那位同学来了
我住的第一套房在二楼
我住的第三天就病了
我住的工作室很小
我女儿是深圳人啦
我快成深圳人了
要是我成了深圳人就好了
从今天起我就是自由人了
我不是对虾过敏嘛，所以没点
我不是对虾过敏，就是对蟹过敏
我不是只对虾过敏
好像不是对虾过敏，是对芒果过敏
如果我不是对虾过敏，是对芒果过敏就好了
他不是对虾过敏，是对芒果过敏。
我妹妹不是对虾过敏，是对芒果过敏
我家猫不是对鱼过敏，是对鸡肉过敏
豆包不是对鱼过敏，是对鸡肉过敏
我儿子过敏的不是虾，是芒果
我不是对味道反感，是对价格过敏
我不是过敏，是感冒了
我妹妹养了一只叫豆包的猫
我妹妹养了一只柴犬叫豆包
我想养一只柴犬叫豆包
想买辆小米SU7
我朋友买了辆小米SU7
买了辆小米滑板车
买了个小米SU7车模
我买了台小米电视
我买了小米手表
我想养一只叫豆包的猫
New phone: iPhone 15 Pro
New phone: 1299.00
Mum's new phone: 07700 900777
My mum got a new number. New phone: 07700 900777
他在腾讯公司上班。
我同事辞职了。
听说小金分手了。
我朋友对花生过敏。
I guess I'd be pescatarian at best.
I guess my sister is pescatarian.
Guess who's vegan now.
I guess I'm having the vegan menu.
I suppose I'm vegan if honey counts.
I guess I live in Rome now.
I'm basically the cook here.
My aunt considers herself a pescatarian.
我妹妹算是鱼素。
我算是吃饱了。
我梦见我搬到了冰岛。
我可能会辞职。
小说里我住在敦煌。
他说我住在北京。
我住在哪里来着？
你喜欢吃什么？
我喜欢你。
我不喜欢你这样。
我去上海出差。
我妈不吃香菜。
我爸退休了。
他们离婚了。
"""


def rows(table: str) -> list[tuple[str, ...]]:
    return [tuple(cell.strip() for cell in line.split("|")) for line in table.strip().splitlines()]


def found(text: str, act: str) -> list[tuple[str, str]]:
    return [(one.slot, str(one.value)) for one in slots(text, "user", SAID) if one.act.value == act]


@pytest.mark.parametrize(("text", "slot", "value"), rows(STATED))
def test_what_is_so_is_found(text: str, slot: str, value: str) -> None:
    assert (slot, value) in found(text, "states")


@pytest.mark.parametrize(("text", "slot", "value"), rows(ENDED))
def test_what_is_over_is_found(text: str, slot: str, value: str) -> None:
    assert (slot, value) in found(text, "ends")


@pytest.mark.parametrize(
    "text",
    [
        "我叫来的师傅，住在上海。",
        "我来自四川的室友，住在上海。",
        "我叫林晓，房东姓李，住在杭州。",
        "我叫林晓，现在房东姓李，住在杭州。",
        "我叫林晓，今年带了个徒弟，在上海工作。",
        "我叫林晓，同桌叫王芳，在上海工作。",
        "我今年30岁，隔壁的邻居，住在杭州。",
        "我叫林晓，在腾讯上班的同学请我吃饭。",
        "我叫林晓，在腾讯做产品的同学请我吃饭。",
        "我叫林晓，在腾讯公司工作了三年的同学请我吃饭。",
        "我叫林晓，在腾讯上班的同学是程序员。",
        "我来自四川，在腾讯上班的同学，住在上海。",
        "我今年30岁，喜欢一个男生，住在上海。",
        "我今年三十岁，在腾讯上班的时候认识了他。",
        "我今年三十岁，在腾讯公司工作过。",
    ],
)
def test_an_introduction_does_not_tell_of_others(text: str) -> None:
    assert {slot for slot, _ in found(text, "states")} <= {"name", "age", "origin"}


@pytest.mark.parametrize("text", NOT_SAID.strip().splitlines())
def test_what_is_not_said_of_the_speaker_is_not_found(text: str) -> None:
    assert [one for one in slots(text, "user", SAID) if one.slot] == []
