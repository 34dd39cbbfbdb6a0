// Controls: the selected figure, and the texts and tables about it.

const slider = element("threshold");
const picture = element("picture");
let shown = null; // the grid in the figure, with its scale, its threshold and the selected cell
let asked = 0; // number of choices so far: only the last is drawn, however long unpacking takes

function chosen() {
  const result = report.results[element("result").value];
  const found = result.pictures[element("config").value][element("normalisation").value];
  const dataset = element("dataset").value;
  return { result, picture: found, place: dataset === "mean" ? null : Number(dataset) };
}

// The data sets that are done depend on the choice. The selected one stays selected if possible.
function offerDataSets() {
  const select = element("dataset");
  const before = select.selectedOptions[0]?.textContent;
  select.replaceChildren();
  const { picture: found } = chosen();
  if (!found) return;
  const offer = (text, value) => select.append(new Option(text, value, false, text === before));
  offer(`mean of ${dataSets(found.datasets.labels.length)}`, "mean");
  const { labels, grids } = found.datasets;
  if (grids) return labels.forEach((label, place) => offer(`data set ${label}`, place));
  offer("single data sets are left out of this page", "");
  select.lastChild.disabled = true;
}

async function show() {
  const turn = ++asked;
  picture.setAttribute("aria-busy", "true");
  const choice = chosen();
  const grid = choice.picture && (await (choice.place === null ? meanGrid : singleGrid)(choice));
  if (turn !== asked) return;
  for (const id of ["picture", "scale", "beside", "readout"]) element(id).hidden = !grid;
  element("nothing").hidden = Boolean(grid);
  element("about").textContent = choice.result.about;
  element("facts").textContent = "";
  if (grid) showGrid(grid, choice);
  picture.setAttribute("aria-busy", "false");
}

function showGrid(grid, choice) {
  shown = Object.assign(grid, scaleOf(grid), { cell: grid.best, threshold: grid.expected });
  element("heatmap").hidden = !isMap(grid);
  element("curve").hidden = isMap(grid);
  showScale();
  listBests(choice);
  setThreshold(grid.threshold);
}

// The scale -----------------------------------------------------------------------------

function showScale() {
  const { low, high, expected } = shown;
  element("low").textContent = decimals(low);
  element("high").textContent = decimals(high);
  for (const id of ["scale", "beside"])
    element(id).classList.toggle("plain", expected === null);
  element("expected").textContent = expected === null ? "" : `k-means++: ${decimals(expected)}`;
  slider.disabled = expected === null;
  Object.assign(slider, { min: low, max: high, step: 0.001, value: expected ?? low });
  element("scale").style.setProperty("--expected", shareOfScale(expected ?? low));
}

const shareOfScale = (score) => (score - shown.low) / (shown.high - shown.low);

// Set the threshold of all cells: first the exact score of k-means++, then that of the slider.
function setThreshold(score) {
  shown.threshold = score;
  const share = score === null ? 0 : shareOfScale(slider.value);
  element("scale").style.setProperty("--cut", share);
  element("threshold-value").textContent = score === null ? "" : decimals(score);
  draw(shown);
  element("facts").textContent = [bestText(), shareText()].join(" ");
  readOut(shown.cell);
}

function bestText() {
  const { best } = shown;
  return best === null ? "" : `Best (★): ${shown.text(best)} at ${pairText(shown, best)}.`;
}

function shareText() {
  if (shown.threshold === null) return "";
  const there = Array.from(shown.values.keys()).filter((at) => hasValue(shown, at));
  const above = there.filter((at) => !isWhite(shown, at)).length;
  const share = Math.round((100 * above) / there.length);
  const what = isMap(shown) ? "pairs" : "exponents";
  return `Above ${decimals(shown.threshold)}: ${above} of ${there.length} ${what} (${share}%).`;
}

// One cell ------------------------------------------------------------------------------

function readOut(at) {
  shown.cell = at;
  mark(shown, "cursor", picture.matches(":focus-within") ? at : null);
  element("readout").textContent = at === null ? "" : cellText(at);
}

function cellText(at) {
  const words = `${pairText(shown, at)}: ${valueText(shown, at)}`;
  if (!hasValue(shown, at)) return `${words}.`;
  const side = isWhite(shown, at) ? "not above" : "above";
  const compared = shown.threshold === null ? "" : `, ${side} ${decimals(shown.threshold)}`;
  return `${words}, ${shown.source(at)}${compared}.`;
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };

function moveBy(event) {
  if (!(event.key in STEPS) && event.key !== "Home") return;
  event.preventDefault();
  if (event.key === "Home") return readOut(shown.best);
  const within = (place, length) => Math.min(Math.max(place, 0), length - 1);
  const [first, second] = pairAt(shown, shown.cell ?? 0);
  const [right, up] = STEPS[event.key];
  const next = [within(first + right, report.p1.length), within(second + up, columns(shown))];
  readOut(next[0] * columns(shown) + next[1]);
}

// The tables beside the figure ----------------------------------------------------------

function listBests({ result, picture: found, place }) {
  element("beside").hidden = result.counts;
  if (result.counts) return;
  for (const head of document.querySelectorAll(".exponents"))
    head.textContent = `at ${result.exponents.join(", ")}`;
  const normalisation = element("normalisation").value;
  const configs = Array.from(element("config").options, (option, at) =>
    bestRow(option.textContent, result.pictures[at][normalisation] ?? {}, "config", at));
  element("configs").replaceChildren(...configs);
  const { labels, grids, best, highest, expected } = found.datasets;
  const datasets = labels.map((label, at) => {
    const facts = { best: best[at], highest: highest[at], expected: expected && expected[at] };
    return bestRow(`data set ${label}`, facts, "dataset", grids ? at : null);
  });
  element("datasets").replaceChildren(...datasets);
}

// A row that describes another choice. A click on the row or its button selects that choice.
function bestRow(label, { expected, highest, best }, select, option) {
  const row = document.createElement("tr");
  const known = (value, words) => (value == null ? "" : words(value));
  const scores = [expected, highest].map((score) => known(score, decimals));
  const texts = [label, ...scores, known(best, shortPairText)];
  row.append(...texts.map((text, column) => cellOf(text, column === 0, option !== null)));
  if (element(select).value === String(option)) row.setAttribute("aria-current", "true");
  if (option === null) return row;
  row.className = "choice";
  row.addEventListener("click", () => choose(select, option));
  return row;
}

const shortPairText = (at) => exponentsAt(shown, at).map(([, p]) => p).join(", ");

function cellOf(text, isHead, isChoice) {
  const cell = document.createElement(isHead ? "th" : "td");
  const name = document.createElement("bdi");
  name.textContent = text;
  cell.append(isHead && isChoice ? buttonOf(name) : name);
  if (isHead) cell.scope = "row";
  else cell.className = "number";
  return cell;
}

function buttonOf(name) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "name" });
  button.append(name);
  return button;
}

function choose(select, option) {
  element(select).value = option;
  element(select).dispatchEvent(new Event("change"));
}

// Start ---------------------------------------------------------------------------------

async function start() {
  for (const item of report.figures) await Bokeh.embed.embed_item(item);
  for (const name of ["heatmap", "curve"]) leaveToPage(modelNamed(name));
  dress();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  for (const id of ["config", "normalisation", "result"])
    element(id).addEventListener("change", () => {
      offerDataSets();
      show();
    });
  element("dataset").addEventListener("change", show);
  slider.addEventListener("input", () => setThreshold(Number(slider.value)));
  element("reset").addEventListener("click", () => {
    slider.value = shown.expected;
    setThreshold(shown.expected);
  });
  picture.addEventListener("keydown", moveBy);
  picture.addEventListener("click", () => readOut(pointedAt(shown) ?? shown.cell));
  for (const name of ["focusin", "focusout"])
    picture.addEventListener(name, () => readOut(shown.cell));
  offerDataSets();
  await show();
}

if (report.results.length) start();
