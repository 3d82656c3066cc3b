// Sort a table by a column when its head is pressed: names as words, all else by numbers, with what has none at the end.
for (const head of document.querySelectorAll("th button")) {
  head.addEventListener("click", () => {
    const cell = head.closest("th"), body = cell.closest("table").tBodies[0];
    const column = [...cell.parentNode.children].indexOf(cell);
    const up = cell.getAttribute("aria-sort") === "descending";
    for (const other of cell.parentNode.children) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", up ? "ascending" : "descending");
    const value = (row) => row.children[column].dataset.value ?? row.children[column].textContent.trim();
    const number = (each) => column === 0 ? NaN : parseFloat(each);
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)], [m, n] = [number(x), number(y)];
      if (Number.isNaN(m) !== Number.isNaN(n)) return Number.isNaN(m) ? 1 : -1;
      const order = Number.isNaN(m) ? x.localeCompare(y) : m - n;
      return up ? order : -order;
    });
    body.append(...rows);
  });
}
