// Work: the lanes that follow what is written, jobs that were ordered, and what went wrong.
import { html, useState } from "../vendor/htm-preact.js";
import { Chip, Empty, More, Trouble, When, number, toast, useDoing, useListing } from "../parts.js";
import { t } from "../words.js";

const TONES = { running: "good", done: "good", failing: "danger", dead: "danger" };

export default function Work({ commits }) {
  const [over, setOver] = useState(false);
  const jobs = useListing("jobs", "entries", { over }, [commits]);
  const dead = useListing("dead", "entries", {}, [commits]);
  const doing = useDoing();
  const order = (operation, id) => doing.run(operation, { id }, () => { toast(t("ordered")); jobs.again(); dead.again(); });
  const entries = [...jobs.rows, ...dead.rows.filter((one) => one.id === null)];
  return html`<section class="screen" aria-label=${t("work")}>
    <div class="head"><h1>${t("work")}</h1><span class="grow"></span><label class="line"><input type="checkbox" checked=${over} onChange=${(event) => setOver(event.currentTarget.checked)} />${t("work.over")}</label></div>
    <div class="scroll"><${Trouble} problem=${jobs.problem ?? dead.problem ?? doing.problem} retry=${jobs.again} />
      ${!jobs.busy && !dead.busy && !jobs.problem && entries.length === 0 && html`<${Empty} title=${t("work.empty")}>${t("work.empty.how")}</${Empty}>`}
      ${entries.length > 0 && html`<div class="table"><table><thead><tr><th>${t("lane")}</th><th>${t("user")}</th><th>${t("state")}</th><th class="n">${t("waits")}</th><th>${t("owner")}</th><th class="n">${t("attempts")}</th><th>${t("error")}</th><th></th></tr></thead>
        <tbody>${entries.map((one) => html`<tr><td><b>${one.name}</b>${one.id !== null && html` <code>#${one.id}</code>`}</td><td><bdi>${one.user}</bdi></td><td><${Chip} tone=${TONES[one.state] ?? ""}>${t(`work.${one.state}`)}</${Chip}></td><td class="n">${number(one.pending)}</td>
          <td>${one.owner && html`<bdi>${one.owner}</bdi> `}<${When} at=${one.since ?? one.at} /></td><td class="n">${number(one.attempts)}</td><td dir="auto">${one.error ?? one.lacks}</td>
          <td>${one.id !== null && ["dead", "cancelled"].includes(one.state) && html`<button onClick=${() => order("retry", one.id)}>${t("retry")}</button>`}${one.id !== null && one.state === "waiting" && html`<button onClick=${() => order("cancel", one.id)}>${t("stop")}</button>`}</td></tr>`)}</tbody></table></div>`}
      <${More} of=${jobs.next ? jobs : dead} />
    </div></section>`;
}
