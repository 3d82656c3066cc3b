// Sort a table by the column whose head is pressed: figures from the largest, words from A, and the other way round when
// it is pressed again. A cell without a figure, and one without words, stays at the end either way.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0], column = head.cellIndex;
    const words = head.classList.contains("words"), before = head.getAttribute("aria-sort");
    const up = before ? before === "descending" : words;
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = ({ cells: { [column]: cell } }) => words ? cell.textContent.replace(/^-?$/, "") : cell.dataset.value ?? "";
    const rows = [...body.rows].sort((a, b) => {
      const x = key(a), y = key(b);
      if (x === y) return 0;
      if (!x || !y) return x ? -1 : 1;
      const order = words ? x.localeCompare(y, undefined, { numeric: true }) : x - y;
      return up ? order : -order;
    });
    body.append(...rows);
  });
}

// Paper opens nothing: while a page is printed, all that is folded is open.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const each of unfolded) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of unfolded) each.open = false;
});
