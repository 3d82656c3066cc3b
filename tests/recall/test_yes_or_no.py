# ruff: noqa: E501 - a row cut in pieces is read wrongly
"""What is read of yes or no: an end, a loss or a return counts only where it is of what is asked about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mnemic import Memory
from mnemic.recall.yes_or_no import said_of

SAID = """
I have a car. | Okay, confession: I ate fish last night, so the vegetarian thing is over. => Do I still have a car? => yes
I have a car. | The vegetarian thing is over. => Do I still have a car? => yes
I have a dog. | I quit my job. => Do I still have a dog? => yes
I work at Siemens. | I sold my car. => Do I still work at Siemens? => yes
I have a car. | I left my umbrella in the car. => Do I still have a car? => yes/open
I have a car. | I lost my keys in the car. => Do I still have a car? => yes/open
I have a piano. | I stopped taking piano lessons. => Do I still have a piano? => yes/open
My neighbour has diabetes. => Do I have diabetes? => none/open
My sister has asthma. => Do I have asthma? => none/open
My asthma is back. => Do I have asthma? => yes
I have a garden. | I gave up on tomatoes in the garden. => Do I have a garden? => yes/open
I have a dog. | I cancelled the dog food order. => Do I have a dog? => yes/open
我有一辆车。 | 坦白一下，我昨晚吃鱼了，素食到此为止。 => 我还有车吗？ => yes
我有一辆车。 | 我把车里的垃圾扔了。 => 我还有车吗？ => yes/open
I play in a band. | I left the band. | I rejoined the band last week. => Am I in a band? => yes
I play in a band. | I left the band. | I rejoined the band last week. => Am I still in the band? => yes
I left the band. | I'm back in the band. => Am I in the band? => yes
I smoke. | I quit smoking in March. | I took up smoking again. => Do I smoke? => yes
I gave up smoking. | Back on the cigarettes, sadly. => Do I smoke? => yes
I quit smoking. | I started smoking again. => Do I smoke? => yes
I quit smoking. | I relapsed. => Do I smoke? => yes
I quit smoking. | I'm smoking again. => Do I smoke? => yes
I stopped drinking. | I drink again. => Do I drink? => yes
I gave up coffee. | I'm back on coffee. => Do I drink coffee? => yes
我戒烟了。 | 唉，又抽上了。 => 我抽烟吗？ => yes
我戒烟了。 | 我又开始抽烟了。 => 我抽烟吗？ => yes
我戒酒了。 | 又喝上了。 => 我喝酒吗？ => yes
Mia and I broke up. | Mia and I are back together. => Do I have a girlfriend? => yes/open/none
Mia and I broke up. | Mia and I are back together. => Am I single? => no/open/none
I'm married. | We got divorced. | We remarried last week. => Am I married? => yes
I live in Leeds. | I moved to Bath. | I moved back to Leeds. => Do I live in Leeds? => yes
I cancelled my gym membership. | I renewed my gym membership. => Do I have a gym membership? => yes
I sold my bike. | I bought a bike again. => Do I have a bike? => yes
I quit the choir. | I went back to the choir. => Am I in the choir? => yes
I quit the gym. | giving it another go => Do I go to the gym? => yes/open
I stopped smoking. | My brother is giving it another go. => Do I smoke? => no/open
I gave up the cello. | picked it back up => Do I still play the cello? => yes/open/none
I don't drink coffee any more. | It rained and then it started again. => Do I drink coffee? => no
I don't drink coffee any more. | The parcel came and the courier picked it up again. => Do I drink coffee? => no
I don't drink coffee any more. | I heard that the noise started again. => Do I drink coffee? => no
I don't drink coffee any more. | I dropped the cup and picked it up. => Do I drink coffee? => no
I don't drink coffee any more. | Tom rested, started again at noon. => Do I drink coffee? => no
I don't drink coffee any more. | I held out for a week, then started again. => Do I drink coffee? => yes/open
I don't drink coffee any more. | Well, started again. => Do I drink coffee? => yes/open
I gave up the cello. | I've picked it back up. => Do I still play the cello? => yes/open/none
我不喝咖啡了。 | 雨停了，又开始了。 => 我喝咖啡吗？ => no
我不喝咖啡了。 | 雨又开始了。 => 我喝咖啡吗？ => no
我不喝咖啡了。 | 头疼又开始了。 => 我喝咖啡吗？ => no
我不喝咖啡了。 | 它又开始了。 => 我喝咖啡吗？ => no
我不喝咖啡了。 | 唉，又开始了。 => 我喝咖啡吗？ => yes/open
我不喝咖啡了。 | 我忍了一周，又开始了。 => 我喝咖啡吗？ => yes/open
我不去健身房了。 | 又开始去了，这次多坚持几天。 => 我现在去健身房吗？ => yes/open/none
我戒烟了。 | 又开始了，唉。 => 我抽烟吗？ => yes/open
我把健身卡退了。 | 我又办了健身卡。 => 我有健身卡吗？ => yes
我退出合唱团了。 | 我又回合唱团了。 => 我在合唱团吗？ => yes/none/open
I lost my passport. => Do I have a passport? => no
I lost my passport. => Do I still have a passport? => no
My passport was stolen. => Do I have a passport? => no
I've lost my wallet. => Do I have my wallet? => no
My passport expired in May. => Do I have a valid passport? => no
My passport has expired. => Do I have a passport? => open/none/no
My bike was stolen. => Do I have a bike? => no
Somebody stole my bike. => Do I have a bike? => no
I sold my bike. => Do I have a bike? => no
My laptop broke. => Do I have a working laptop? => no
My laptop is broken. => Do I have a laptop? => open/none/no
My phone died. => Do I have a phone? => open/none/no
I cancelled my gym membership. => Do I have a gym membership? => no
My gym membership was cancelled. => Do I have a gym membership? => no
My gym membership ran out. => Do I have a gym membership? => no
I gave my piano to the school. => Do I have a piano? => no
I donated my piano. => Do I have a piano? => no
I gave away my bike. => Do I have a bike? => no
I have a dog called Pickle. | I had to give Pickle to my parents. => Do I have a dog? => no/open
I have a dog called Pickle. | I rehomed Pickle. => Do I have a dog? => no/open
I lost my passport. | Got my new passport today. => Do I have a passport? => yes
I lost my passport. | I found my passport. => Do I have a passport? => yes
I lost my passport. | My new passport arrived. => Do I have a passport? => yes
I lost my passport. | I got a new passport. => Do I have a passport? => yes
My phone broke. | I got my phone repaired. => Do I have a phone? => yes
My bike was stolen. | The police found my bike. => Do I have a bike? => yes/open
I lost my passport once as a child. => Do I have a passport? => open/none
I nearly lost my passport. => Do I have a passport? => yes/open/none
If I lost my passport I'd panic. => Do I have a passport? => open/none
My sister lost her passport. => Do I have a passport? => none
I never lost my passport. => Do I have a passport? => open/none/yes
I lost weight. => Do I have a passport? => none
I lost my job. => Do I have a job? => no
我护照丢了。 => 我有护照吗？ => no
我护照丢了。 => 我还有护照吗？ => no
我把护照弄丢了。 => 我有护照吗？ => no
我的自行车被偷了。 => 我有自行车吗？ => no
我的驾照过期了。 => 我有驾照吗？ => no/open
我的驾照过期了。 => 我的驾照还有效吗？ => no/none
我车卖了。 => 我还有车吗？ => no
我把钢琴捐了。 => 我有钢琴吗？ => no
咪咪送人了。 => 我还有咪咪吗？ => no/none
我护照丢了。 | 护照找到了。 => 我有护照吗？ => yes
我护照丢了。 | 新护照办下来了。 => 我有护照吗？ => yes
我护照丢了。 | 我补办了护照。 => 我有护照吗？ => yes
我差点丢了护照。 => 我有护照吗？ => open/none/yes
我妈的护照丢了。 => 我有护照吗？ => none
I'm retired. => Do I still work? => no
I retired last year. => Do I work? => no
I lost my job. => Do I work? => no/open/none
I have a passport. => Do I have a passport? => yes
I don't have a passport. => Do I have a passport? => no
We sold the Skoda and got a Dacia instead. => Do I have a Dacia? => yes
We sold the Skoda and got a Dacia instead. => Do I have a Skoda? => no
We adopted a puppy called Biscuit. => Do I have a dog? => yes
I have two kittens. => Do I have a cat? => yes
We adopted a puppy called Biscuit. | Biscuit died in May. => Do I have a dog? => no/open
We adopted a puppy called Biscuit. => Do I have a cat? => none
My sister adopted a puppy. => Do I have a dog? => none
I saw a puppy. => Do I have a dog? => none
I have puppy training on Monday. => Do I have a dog? => none
I'm engaged to Raj. => Am I engaged? => yes
I have a car. => Do I have a car? => yes
我有护照。 => 我有护照吗？ => yes
My sister's bike was stolen. => Do I have a bike? => none
My sister sold her car. => Do I have a car? => none
My neighbour's passport was stolen. => Do I have a passport? => none
My dog's collar is gone. => Do I have a dog? => open/none/yes
Got my new passport today. => Do I have a passport? => yes
Our car was written off. => Do I have a car? => no
Someone nicked my bike. => Do I have a bike? => no
My mum sold my old bike. => Do I have a bike? => no
We gave the car to our son. => Do I have a car? => no
I took the car to the garage. => Do I have a car? => none/yes/open
I gave my bike to the repair shop. => Do I have a bike? => none/yes/open
I lost my passport photo. => Do I have a passport? => none/open/yes
I cancelled the gym class. => Do I have a gym membership? => none
I dropped my phone. => Do I have a phone? => none/open/yes
I left my phone at home. => Do I have a phone? => none/open/yes
I left my passport at the hotel. => Do I have a passport? => none/open/yes
I left the band. => Am I in the band? => no
I left my job. => Do I have a job? => no
The band broke up. => Am I in a band? => no/none
I returned the library book. => Do I have a library card? => none
I sold my car and bought a bike. => Do I have a bike? => yes
I sold my car and bought a bike. => Do I have a car? => no
My old car died so I bought a new car. => Do I have a car? => yes/open
I have a car. | My car is gone. => Do I have a car? => no
I found a flat. | I lost my flat key. => Do I have a flat? => none/yes/open
我的钥匙丢了。 => 我有车吗？ => none
我把车钥匙弄丢了。 => 我有车吗？ => none
我妈的车卖了。 => 我有车吗？ => none
我卖车的。 => 我有车吗？ => none
我的车送去修了。 => 我有车吗？ => none/yes/open
我的车借给朋友了。 => 我有车吗？ => none/yes/open
我对芒果过敏。 | 芒果又试了一次，居然没事，医生说已经不过敏了 => 我还对芒果过敏吗？ => no
我对花生过敏 | 花生又吃了一次，没事，大夫说不过敏了 => 我还对花生过敏吗 => no
我对花生过敏 | 花生过敏好了 => 我还对花生过敏吗 => no
我对花生过敏 | 花生过敏好多了 => 我还对花生过敏吗 => yes/open
我对花生过敏 | 花生过敏好了很多 => 我还对花生过敏吗 => yes/open
我对芒果过敏 | 医生说我已经不过敏了 => 我对芒果过敏吗 => no
我对芒果过敏 | 医生说我已经不过敏了 => 我还对芒果过敏吗 => no
我对芒果过敏 | 我对海鲜过敏 | 医生说我已经不过敏了 => 我还对芒果过敏吗 => open
我对芒果过敏 | 我对海鲜过敏 | 海鲜又吃了一次，没事，大夫说不过敏了 => 我还对芒果过敏吗 => yes
我对芒果过敏 | 我对海鲜过敏 | 海鲜又吃了一次，没事，大夫说不过敏了 => 我还对海鲜过敏吗 => no
我对芒果过敏 | 我弟弟又吃了芒果，医生说已经不过敏了 => 我还对芒果过敏吗 => yes/open
我对芒果过敏 | 医生说她已经不过敏了 => 我还对芒果过敏吗 => yes
我对芒果过敏 | 医生说我对花生已经不过敏了 => 我还对芒果过敏吗 => yes
我对芒果过敏 | 芒果又吃了一次，还是过敏 => 我还对芒果过敏吗 => yes/open
我对芒果过敏 | 要是医生说已经不过敏了就好了 => 我还对芒果过敏吗 => yes/open
I'm allergic to mango. | Tried mango again and it was fine, my doctor says I'm no longer allergic. => Am I still allergic to mango? => no
I'm allergic to mango. | The doctor said I'm not allergic any more. => Am I allergic to mango? => no
I'm allergic to mango. | I'm allergic to cats. | The doctor said I'm not allergic any more. => Am I allergic to mango? => open
I'm allergic to mango. | My mango allergy is gone. => Am I still allergic to mango? => no
I'm allergic to mango. | My mango allergy is over the top this year. => Am I still allergic to mango? => yes/open
I'm allergic to mango. | My sister tried mango, the doctor says I'm no longer allergic. => Am I still allergic to mango? => yes/open
I'm allergic to mango. | My sister's mango allergy is gone. => Am I still allergic to mango? => yes/open
I'm allergic to mango. | My sister is no longer allergic. => Am I still allergic to mango? => yes
I'm allergic to penicillin. | Scratch that, I'm not allergic to penicillin. | Ugh the doctor says I am allergic to penicillin after all. => Am I allergic to penicillin? => yes
I'm not allergic to nuts. | My allergist confirmed that I'm allergic to nuts. => Am I allergic to nuts? => yes
I'm not allergic to nuts. | Turns out I am allergic to nuts after all. => Am I allergic to nuts? => yes
I'm not allergic to nuts. | The blood test says I'm allergic to nuts. => Am I allergic to nuts? => yes
I'm not diabetic. | The doctor says I am diabetic after all. => Am I diabetic? => yes
I'm allergic to nuts. | The doctor says I'm not allergic to nuts after all. => Am I allergic to nuts? => no
I'm not allergic to nuts. | The doctor says I might be allergic to nuts after all. => Am I allergic to nuts? => open
I'm not allergic to nuts. | The doctor says my sister is allergic to nuts after all. => Am I allergic to nuts? => no/open
I'm not allergic to nuts. | If the doctor says I'm allergic to nuts I'll cry. => Am I allergic to nuts? => no/open
I'm not allergic to nuts. | The doctor says I am allergic to cats after all. => Am I allergic to nuts? => no
我对青霉素过敏 | 其实我对青霉素不过敏 | 唉，医生说我还是对青霉素过敏 => 我对青霉素过敏吗？ => yes
我对青霉素不过敏 | 检查结果显示我对青霉素过敏 => 我对青霉素过敏吗？ => yes
我对青霉素过敏 | 医生说我对青霉素不过敏 => 我对青霉素过敏吗？ => no
我对青霉素不过敏 | 医生说我弟弟对青霉素过敏 => 我对青霉素过敏吗？ => no/open
我对青霉素不过敏 | 医生说我可能对青霉素过敏 => 我对青霉素过敏吗？ => no/open
我乳糖不耐，牛奶喝了拉肚子 => 我能喝牛奶吗？ => no
我乳糖不耐 => 我能喝牛奶吗？ => no
我乳糖不耐受 => 我可以喝牛奶吗？ => no
我有乳糖不耐症 => 我能喝牛奶吗？ => no
牛奶喝完肚子胀 => 我能喝牛奶吗？ => no
牛奶喝多了会拉肚子 => 我能喝牛奶吗？ => open
喝了牛奶就难受 => 我能喝牛奶吗？ => no
我喝了牛奶之后总是胃疼 => 我能喝牛奶吗？ => no
我吃完芒果就过敏 => 我能吃芒果吗？ => no
我一喝牛奶就拉肚子 => 我能喝牛奶吗？ => no
我喝了咖啡就难受 => 我能喝咖啡吗？ => no
我昨天喝了牛奶就难受 => 我能喝牛奶吗？ => open
我吃了奶制品会拉肚子 => 我能喝牛奶吗？ => no
我妈喝了牛奶就难受 => 我能喝牛奶吗？ => none/open
I feel sick every time I drink milk => Can I drink milk? => no
I get bloated after eating dairy => Can I drink milk? => no
I don't get sick when I drink milk => Can I drink milk? => yes/open/none
My son gets sick when he drinks milk => Can I drink milk? => none/open
我喝了冰牛奶会拉肚子，热的没事 => 我能喝牛奶吗？ => open
我喝牛奶会拉肚子，酸奶没问题 => 我能喝牛奶吗？ => no
我吃了药之后会难受，牛奶能喝 => 我能喝牛奶吗？ => yes
我吃了药会难受，牛奶能喝 => 我能喝牛奶吗？ => yes
我喝了牛奶就去上班 => 我能喝牛奶吗？ => yes/open/none
我喝了牛奶就睡着了 => 我能喝牛奶吗？ => yes/open/none
我喝了牛奶不会难受 => 我能喝牛奶吗？ => yes/open/none
我儿子喝了牛奶就难受 => 我能喝牛奶吗？ => none/open
我喝了牛奶就不难受了 => 我能喝牛奶吗？ => yes/open/none
我心里难受，喝了牛奶就去睡了 => 我能喝牛奶吗？ => yes/open/none
我喝牛奶不拉肚子 => 我能喝牛奶吗？ => yes/open/none
我儿子乳糖不耐 => 我能喝牛奶吗？ => none/open
我乳糖不耐，但酸奶没问题 => 我能喝酸奶吗？ => open/yes
我乳糖不耐，但是酸奶可以 => 我能喝酸奶吗？ => open/yes
我乳糖不耐，酸奶喝了没事 => 我能喝酸奶吗？ => open/yes
我乳糖不耐，但酸奶没问题 => 我能喝牛奶吗？ => no
我乳糖不耐，酸奶也不行 => 我能喝酸奶吗？ => no/open
我乳糖不耐，买酸奶给孩子 => 我能喝酸奶吗？ => no/open
我乳糖不耐好了 => 我能喝牛奶吗？ => open
我的乳糖不耐已经好了 => 我能喝牛奶吗？ => open
我乳糖不耐受好多了 => 我能喝牛奶吗？ => no/open
我坚果过敏好了 => 我能吃核桃吗？ => open
I outgrew my lactose intolerance => Can I drink milk? => open
My lactose intolerance is gone => Can I drink milk? => open
I'm no longer lactose intolerant => Can I drink milk? => open/none
I outgrew my milk allergy => Can I drink milk? => open
I'm lactose intolerant, but yoghurt is fine => Can I eat yoghurt? => open/yes
I'm lactose intolerant but I'm fine with yoghurt => Can I eat yoghurt? => open/yes
I'm lactose intolerant but can eat yoghurt => Can I eat yoghurt? => open/yes
I'm lactose intolerant, but yoghurt is fine => Can I drink milk? => no
I'm lactose intolerant, and yoghurt isn't fine => Can I eat yoghurt? => no/open
My son outgrew his lactose intolerance => Can I drink milk? => none/open
我不耐烦排队买牛奶 => 我能喝牛奶吗？ => none/open/yes
我乳糖不耐 => 我能喝茶吗？ => none
I'm lactose intolerant => Can I drink milk? => no
I'm lactose intolerant => Can I have cheese? => no
I have a lactose intolerance => Can I drink milk? => no
My son is lactose intolerant => Can I drink milk? => none/open
I'm not lactose intolerant => Can I drink milk? => none/open/yes
I'm lactose intolerant => Can I drink tea? => none
I'm allergic to shellfish. I am not allergic to anything. => Am I allergic to shellfish? => open
I'm allergic to shellfish, I have no allergies. => Am I allergic to shellfish? => open
I'm allergic to shellfish. I'm not allergic to anything else. => Am I allergic to shellfish? => yes
I'm allergic to shellfish. My sister is not allergic to anything. => Am I allergic to shellfish? => yes
I'm not allergic to anything. I'm allergic to shellfish. => Am I allergic to shellfish? => open
我对虾过敏。我什么都不过敏。 => 我对虾过敏吗？ => open
我对虾过敏。别的什么都不过敏。 => 我对虾过敏吗？ => yes
我对花生过敏，其余没有过敏史。 => 我对花生过敏吗？ => yes
我对花生过敏，此外没有过敏史。 => 我对花生过敏吗？ => yes
我对花生过敏。除此之外没有任何过敏。 => 我对花生过敏吗？ => yes
我对花生过敏，另外没有过敏史。 => 我对花生过敏吗？ => yes
我对花生过敏，花生以外什么都不过敏。 => 我对花生过敏吗？ => yes
我对花生过敏，剩下的都不过敏。 => 我对花生过敏吗？ => yes/open
我对花生过敏，没有过敏史。 => 我对花生过敏吗？ => open
I'm allergic to peanuts, otherwise I have no allergies. => Am I allergic to peanuts? => yes
I'm allergic to peanuts, beyond that I'm not allergic to anything. => Am I allergic to peanuts? => yes
I'm allergic to peanuts, I have no further allergies. => Am I allergic to peanuts? => yes/open
我对花生过敏，除此之外，没有过敏史。 => 我对花生过敏吗？ => yes
我对花生过敏，其他的，我什么都不过敏。 => 我对花生过敏吗？ => yes
I'm allergic to peanuts. Other than that, I have no allergies. => Am I allergic to peanuts? => yes
I'm allergic to peanuts, but I went to another doctor, I have no allergies. => Am I allergic to peanuts? => open
除了花生，我什么都不过敏。 => 我对花生过敏吗？ => yes/open/none
我除了花生什么都不过敏。 => 我对花生过敏吗？ => yes/none
I'm not allergic to anything except peanuts. => Am I allergic to peanuts? => yes
My sister is not allergic to anything except peanuts. => Am I allergic to peanuts? => none/open
Maybe I'm not allergic to anything except peanuts. => Am I allergic to peanuts? => open/none
I'm not allergic to nuts | Her doctor says I'm allergic to nuts => Am I allergic to nuts? => no/open
I'm not allergic to nuts | My dog's doctor says I'm allergic to nuts => Am I allergic to nuts? => no/open
I'm not allergic to nuts | My new doctor says I'm allergic to nuts => Am I allergic to nuts? => yes
我对虾过敏。他什么都不过敏。 => 我对虾过敏吗？ => yes
我对虾过敏。我妹妹什么都不过敏。 => 我对虾过敏吗？ => yes
I live in Cork, no sorry I live in Galway => Do I live in Galway? => yes
I live in Cork, no sorry I live in Galway => Do I live in Cork? => no
I live in Cork, sorry I work in Galway => Do I live in Cork? => yes
I live in Cork, sorry she lives in Galway => Do I live in Cork? => yes/open
我住在杭州，不对，我住在苏州 => 我住在苏州吗？ => yes
我住在杭州，不对，我住在苏州 => 我住在杭州吗？ => no
我住在成都，不对，我住在重庆 => 我住在成都吗？ => no
I'm allergic to nuts. Actually I'm not allergic to nuts. => Am I allergic to nuts? => no
I'm not vegan. Sorry, I am vegan. => Am I vegan? => yes
I have a dog. No wait, I don't have a dog. => Do I have a dog? => no
I'm allergic to nuts. Actually, I'm not. => Am I allergic to nuts? => open
I have a car. I don't have a car. => Do I have a car? => open
I'm allergic to nuts. I'm not. Actually it rained. => Am I allergic to nuts? => open
I'm allergic to nuts. Sorry, it rained. => Am I allergic to nuts? => yes
I'm allergic to nuts. Are you? I'm not sure. => Am I allergic to nuts? => yes/open
Actually I'm allergic to nuts. I'm not allergic to nuts. => Am I allergic to nuts? => open
我对花生过敏。说错了，我不对花生过敏。 => 我对花生过敏吗？ => no
我对花生过敏。其实我对花生不过敏。 => 我对花生过敏吗？ => no
我对花生过敏。不对，没有。 => 我对花生过敏吗？ => open
我对花生过敏。我对花生不过敏。 => 我对花生过敏吗？ => open
我对花生过敏。其实今天下雨。 => 我对花生过敏吗？ => yes
I have a car. | I want to sell my car. => Do I have a car? => yes/open
I have a car. | I plan to sell the car. => Do I have a car? => yes/open
I have a dog called Rex. | I should give Rex away. => Do I have a dog? => yes/open
I smoke. | I jacked in smoking for good. => Do I smoke? => no
I smoke. | I quit smoking. | I should know better, back at it. => Do I smoke? => yes/open
我在合唱团。 | 合唱团我放弃了。 => 我在合唱团吗？ => no
I have a car. | I sold my car, I hope you don't mind. => Do I have a car? => no
I have a car. | I sold my car, you should see the new one. => Do I have a car? => no
I have a car. | I should have told you: I sold my car. => Do I have a car? => no
I have a car. | One day in May I sold my car. => Do I have a car? => no
I have a bike. | I sold my bike to Hope. => Do I have a bike? => no
我有一辆车。 | 车卖了就好了。 => 我有车吗？ => no
I sold my car. | I'd got a new car in May. => Do I have a car? => yes
我在合唱团。 | 合唱团的人散了。 => 我在合唱团吗？ => yes
我在乐团。 | 乐团排练完散了，各回各家。 => 我在乐团吗？ => yes
我喝咖啡。 | 我喝着咖啡和朋友吹了一下午牛。 => 我喝咖啡吗？ => yes
我有词典。 | 这本词典放弃了拼音。 => 我有词典吗？ => yes
我有词典。 | 我有词典，这本词典放弃了拼音。 => 我有词典吗？ => yes
"""
"""What is said, the question, and what may be read: yes, no, open, or none where nothing holds the matter."""


def readings(table: str) -> list[tuple[tuple[str, ...], str, frozenset[str]]]:
    rows = (line.split(" => ") for line in table.strip().splitlines())
    return [(tuple(said.split(" | ")), question, frozenset(may.split("/"))) for said, question, may in rows]


@pytest.mark.parametrize(("said", "question", "may"), readings(SAID))
def test_an_end_counts_where_it_is_of_what_is_asked(said: tuple[str, ...], question: str, may: frozenset[str]) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="noor")
        at = datetime(2025, 1, 6, tzinfo=UTC)
        for n, text in enumerate(said):
            me.observe(text, said=at + timedelta(days=n))
        turns = [version.item for version in me.list()]
    read = said_of(question, [], turns)
    assert ("none" if read is None else {True: "yes", False: "no", None: "open"}[read.yes]) in may


PROFILED = """
I'm vegetarian, by the way. | I eat fish again, so I guess I'm pescatarian. => Am I vegetarian? => No
I'm vegetarian, by the way. | I eat fish again, so I guess I'm pescatarian. => Am I pescatarian? => Yes
I'm vegetarian. | I went back to eating fish last month. => Am I still a vegetarian? => No
I'm a vegetarian. | Fish is back on the menu. => Am I a vegetarian? => No
I'm a vegetarian. | I'm pescatarian now. => Am I vegetarian? => No
I'm vegan. | I've switched to vegetarian. => Am I vegan? => No
我吃素。 | 我又开始吃鱼了。 => 我吃素吗？ => 不是
我吃素。 | 我改吃鱼素了。 => 我吃素吗？ => 不是
I'm vegetarian. | I went vegan in May. => Am I vegetarian? => Yes
I'm vegetarian. | I'm gluten-free now, too. => Am I vegetarian? => Yes
I'm vegetarian. | I eat meat again. | I'm vegetarian again. => Am I vegetarian? => Yes
I'm vegetarian. | My husband eats fish again. => Am I vegetarian? => Yes
I'm vegetarian. | I'd eat fish again if I had to. => Am I vegetarian? => Yes
I'm vegetarian. | I fed the cat fish again. => Am I vegetarian? => Yes
我吃素。 | 我妹妹又开始吃鱼了。 => 我吃素吗？ => 是
"""
"""What is said, the question, and what is answered out of what the profile says is no longer so."""


LEFT = """
I'm allergic to shrimp. | I'm allergic to crab. | I'm no longer allergic to shrimp. => What am I allergic to? => crab
I'm allergic to shrimp. | I'm no longer allergic to shrimp. => What am I allergic to? => none
我对虾过敏。 | 我对螃蟹过敏。 | 我已经不再对虾过敏了。 => 我对什么过敏？ => 螃蟹
"""
"""What is said, one of which ends, and what is left."""


@pytest.mark.parametrize(("said", "question", "short"), readings(PROFILED) + readings(LEFT))
def test_what_the_profile_ended_is_so_no_longer(said: tuple[str, ...], question: str, short: frozenset[str]) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="noor")
        at = datetime(2025, 1, 6, tzinfo=UTC)
        for n, text in enumerate(said):
            me.observe(text, said=at + timedelta(days=n))
        assert (me.ask(question).short or "none") in short
