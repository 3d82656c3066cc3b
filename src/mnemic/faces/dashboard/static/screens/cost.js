// Cost: what language models took, by strategy, task and model; money where a price was given.
import { html } from "../vendor/htm-preact.js";
import { Empty, Stat, Trouble, number, useAnswer } from "../parts.js";
import { t } from "../words.js";

export default function Cost({ commits }) {
  const { data, problem, again } = useAnswer("spending", {}, [commits]);
  const rows = data?.spending ?? [];
  const sum = (name) => rows.reduce((whole, one) => whole + one[name], 0);
  const money = new Map();
  for (const one of rows) if (one.currency) money.set(one.currency, (money.get(one.currency) ?? 0) + one.cost);
  return html`<section class="screen" aria-label=${t("cost")}><div class="head"><h1>${t("cost")}</h1></div><div class="scroll"><${Trouble} problem=${problem} retry=${again} />
    ${data && rows.length === 0 && html`<${Empty} title=${t("cost.empty")}>${t("cost.empty.how")}</${Empty}>`}
    ${rows.length > 0 && html`<div class="stats"><${Stat} name=${t("cost.calls")} value=${number(sum("calls"))} note=${t("cost.failed", { count: number(sum("failed")) })} /><${Stat} name=${t("cost.prompt")} value=${number(sum("prompt_tokens"))} /><${Stat} name=${t("cost.answers")} value=${number(sum("answer_tokens"))} />
      <${Stat} name=${t("cost.money")} value=${money.size ? [...money].map(([currency, cost]) => `${number(cost, 4)} ${currency}`).join(", ") : "–"} note=${rows.some((one) => one.cost === null) ? t("cost.unpriced") : ""} /></div>
    <div class="table"><table><thead><tr><th>${t("strategy")}</th><th>${t("task")}</th><th>${t("model")}</th><th class="n">${t("cost.calls")}</th><th class="n">${t("cost.prompt")}</th><th class="n">${t("cost.answers")}</th><th class="n">${t("seconds")}</th><th class="n">${t("cost.money")}</th></tr></thead>
      <tbody>${rows.map((one) => html`<tr><td>${one.strategy}</td><td>${one.task}</td><td><bdi>${one.model}</bdi></td><td class="n">${number(one.calls)}</td><td class="n">${number(one.prompt_tokens)}</td><td class="n">${number(one.answer_tokens)}</td><td class="n">${number(one.seconds, 1)}</td><td class="n">${one.cost === null ? "–" : `${number(one.cost, 4)} ${one.currency}`}</td></tr>`)}</tbody></table></div>`}
  </div></section>`;
}
