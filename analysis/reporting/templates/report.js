"use strict";
// The page works from its own HTML: tables are sorted and filtered in place, figures are drawn from the JSON
// blocks beside them, colours come from the style sheet so that light, dark and print need no second set.
(() => {
  const data = (id) => JSON.parse(document.getElementById(id).textContent);
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const root = document.documentElement;
  const plots = all(".plot").map((box) => ({ box, figures: data(box.dataset.figures) }));
  const choice = document.getElementById("point");
  const place = () => (choice ? choice.selectedIndex : 0);

  // ---------------------------------------------------------------------------------------- figures
  function colours() {
    const style = getComputedStyle(root);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    return {
      ink: colour("ink"), soft: colour("soft"), line: colour("line"), card: colour("card"),
      attacker: colour("attacker"), defender: colour("defender"),
      ramp: [0, 1, 2, 3, 4].map((step) => [step / 4, colour(`ramp-${step}`)]),
    };
  }

  function dressed(figure, narrow) {
    const paint = colours();
    const copy = JSON.parse(JSON.stringify(figure));
    const { layout } = copy;
    const font = getComputedStyle(document.body).fontFamily;
    Object.assign(layout, {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: paint.ink, family: font },
      hoverlabel: { bgcolor: paint.card, bordercolor: paint.line, font: { color: paint.ink, family: font }, align: "left" },
      hovermode: "closest", dragmode: false,
    });
    for (const axis of ["xaxis", "yaxis"]) {
      Object.assign(layout[axis], { gridcolor: paint.line, zerolinecolor: paint.soft, linecolor: paint.line });
    }
    const labels = layout.meta.y;
    layout.yaxis.ticktext = narrow ? labels.narrow : labels.wide;
    if (narrow) layout.yaxis.tickfont = { size: 10 };
    if (layout.meta.x) layout.xaxis.ticktext = narrow ? layout.meta.x.narrow : layout.meta.x.wide;
    for (const trace of copy.data) {
      // A box beside the cell would not fit on a phone: a tap fills the panel instead.
      if (narrow) Object.assign(trace, { hovertemplate: null, hoverinfo: "none" });
      if (trace.type === "heatmap") trace.colorscale = paint.ramp;
      else {
        trace.marker.color = paint[trace.meta.bar ?? trace.meta];
        trace.error_x.color = paint[trace.meta.error ?? trace.meta];
      }
    }
    return copy;
  }

  const PAPER = 660;

  function room(box) {
    if (root.classList.contains("printing")) return PAPER;
    const frame = box.closest("figure, section");
    const style = getComputedStyle(frame);
    return frame.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  }

  function draw({ box, figures }) {
    const figure = figures[place()];
    const outer = room(box);
    const narrow = outer < 560;
    const { data: traces, layout } = dressed(figure, narrow);
    const { meta } = layout;
    let width = outer, above = 44;
    if (meta.x) {
      // Few columns need not fill the page, many need room: then the box scrolls rather than the page.
      const labels = narrow ? 110 : 210;
      const least = root.classList.contains("printing") ? 0 : labels + meta.cells * 15;
      width = Math.max(Math.min(outer - 18, labels + meta.cells * 110 + 40), least);
      above = narrow ? 110 : 150;
      if (narrow || (width - labels) / meta.cells < 24) {
        layout.xaxis.tickangle = -90;
        layout.margin.r = 10;
      }
    }
    layout.width = width;
    layout.height = meta.plotHeight + above;
    return Plotly.react(box, traces, layout, { displaylogo: false, displayModeBar: false });
  }

  const drawAll = () => plots.map(draw);
  if (plots.length) {
    drawAll();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
    // Paper is white and has a width of its own, whatever the screen shows.
    const printing = (is) => { root.classList.toggle("printing", is); drawAll(); };
    addEventListener("beforeprint", () => printing(true));
    addEventListener("afterprint", () => printing(false));
    let timer = 0, before = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth === before) return;
      before = innerWidth;
      clearTimeout(timer);
      timer = setTimeout(drawAll, 150);
    });
  }

  // ------------------------------------------------------------------------------- cell of the matrix
  const matrix = document.getElementById("matrix-plot");
  if (matrix) {
    const details = data("matrix-details");
    const panel = document.getElementById("cell");
    const set = (field, text) => { panel.querySelector(`[data-field="${field}"]`).textContent = text; };
    matrix.on("plotly_click", ({ points: [point] }) => {
      const [row, column] = point.pointNumber;
      const [attacker, defender, swing] = point.customdata;
      set("attacker", details.attackers[row]);
      set("defender", details.defenders[column]);
      set("attacker-wins", attacker);
      set("defender-wins", defender);
      set("swing", swing);
      const units = `${details.attackerUnits[row]} ${details.defenderUnits[column]}`;
      set("command", `simcore odds ${units} ${details.options[place()]}`);
      panel.hidden = false;
    });
    panel.querySelector(".close").addEventListener("click", () => { panel.hidden = true; });
  }

  // ----------------------------------------------------------------------------------------- tables
  const order = new Intl.Collator(undefined, { numeric: true });

  function sort(table, header, direction) {
    const column = Array.from(header.parentElement.children).indexOf(header);
    const numeric = header.classList.contains("number");
    const sign = direction === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const keyed = Array.from(body.rows).map((row) => [row.cells[column].dataset.sort, row]);
    keyed.sort(([one], [other]) => {
      // Rows without a value come last, whichever way the column is sorted.
      if (one === "" || other === "") return (one === "") - (other === "");
      return sign * (numeric ? Number(one) - Number(other) : order.compare(one, other));
    });
    for (const cell of header.parentElement.children) if (cell.ariaSort) cell.ariaSort = "none";
    header.ariaSort = direction;
    body.append(...keyed.map(([, row]) => row));
  }

  function filter(bar) {
    const table = document.getElementById(bar.dataset.for);
    const words = bar.querySelector("input[type=search]").value.toLowerCase().split(/\s+/).filter(Boolean);
    const select = bar.querySelector(".choice");
    const everywhere = bar.querySelector(".everywhere");
    // A table without that box is about no grid point.
    const point = choice && everywhere && !everywhere.checked ? choice.value : null;
    table.classList.toggle("everywhere", point === null);
    let shown = 0;
    const rows = table.tBodies[0].rows;
    for (const row of rows) {
      row.words ??= all(".name", row).map((name) => name.textContent).join(" ").toLowerCase();
      const fits =
        (point === null || row.dataset.point === point) &&
        (!select?.value || row.dataset[select.dataset.field] === select.value) &&
        words.every((word) => row.words.includes(word));
      row.hidden = !fits;
      shown += fits;
    }
    bar.querySelector(".count").textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
  }

  for (const button of all(".data thead button")) {
    button.addEventListener("click", () => {
      const header = button.closest("th");
      const was = header.ariaSort;
      const first = button.dataset.first;
      const opposite = first === "ascending" ? "descending" : "ascending";
      sort(button.closest("table"), header, was === first ? opposite : first);
    });
  }
  const bars = all(".toolbar");
  for (const bar of bars) {
    for (const kind of ["input", "change"]) bar.addEventListener(kind, () => filter(bar));
  }

  // ------------------------------------------------------------------------------- grid point, copying
  function choosePoint() {
    for (const label of all(".point-label")) label.textContent = choice.selectedOptions[0].textContent;
    const panel = document.getElementById("cell");
    if (panel) panel.hidden = true;
    bars.forEach(filter);
  }
  if (choice) {
    choice.addEventListener("change", () => { choosePoint(); drawAll(); });
    choosePoint();
  } else bars.forEach(filter);

  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      // Browsers may keep the clipboard from local files: select the text instead.
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
})();
