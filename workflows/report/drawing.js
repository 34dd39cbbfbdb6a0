// Drawing: show a grid in one of the two Bokeh figures.

const BELOW = -1e9; // below the range of colours, so it is drawn white

const modelNamed = (name) =>
  Bokeh.documents.map((page) => page.get_model_by_name(name)).find((model) => model !== null);

const isMap = (grid) => grid.result.exponents.length === 2;
const hasValue = (grid, at) => !Number.isNaN(grid.values[at]);
const isWhite = (grid, at) => grid.threshold !== null && !grid.isAbove(at, grid.threshold);
// The colours start at the threshold, so that cells above it use the whole range.
const lowest = (grid) => grid.threshold ?? grid.low;
const painted = (grid, at) =>
  hasValue(grid, at) && isWhite(grid, at) ? BELOW : Math.max(grid.values[at], lowest(grid));
const valueText = (grid, at) => (hasValue(grid, at) ? grid.text(at) : "no result");
const sourceText = (grid, at) => (hasValue(grid, at) ? grid.source(at) : "");

// Cells are numbered along p2 first.
const columns = (grid) => (isMap(grid) ? report.p2.length : 1);
const pairAt = (grid, at) => [Math.floor(at / columns(grid)), at % columns(grid)];

const exponentsAt = (grid, at) =>
  grid.result.exponents.map((name, place) => [name, report[name][pairAt(grid, at)[place]]]);
const pairText = (grid, at) =>
  exponentsAt(grid, at).map(([name, p]) => `${name} = ${p}`).join(", ");

function draw(grid) {
  const name = isMap(grid) ? "heatmap" : "curve";
  const low = lowest(grid);
  modelNamed(`${name} colours`).setv({ low, high: Math.max(grid.high, low + 0.001) });
  (isMap(grid) ? drawMap : drawCurve)(grid);
  mark(grid, "best", grid.best);
}

// Bokeh takes images row by row, and a row is along p1.
function drawMap(grid) {
  const rows = report.p2.map((_, second) =>
    report.p1.map((_, first) => first * columns(grid) + second));
  const flat = (value) => [rows.flat().map(value)];
  const cells = modelNamed("cells");
  const [image] = cells.data.image;
  image.set(rows.flat().map((at) => painted(grid, at)));
  cells.data = {
    image: [image],
    p1: flat((at) => String(report.p1[pairAt(grid, at)[0]])),
    p2: flat((at) => String(report.p2[pairAt(grid, at)[1]])),
    shown: flat((at) => valueText(grid, at)),
    source: flat((at) => sourceText(grid, at)),
  };
  cells.change.emit(); // the array object is the same, so Bokeh cannot notice that it changed
}

function drawCurve(grid) {
  const all = report.p1.map((_, at) => at);
  modelNamed("points").data = {
    x: report.p1,
    y: all.map((at) => grid.values[at]),
    p1: report.p1.map(String),
    painted: all.map((at) => painted(grid, at)),
    shown: all.map((at) => valueText(grid, at)),
    source: all.map((at) => sourceText(grid, at)),
  };
  const margin = (grid.high - grid.low) / 20;
  modelNamed("curve").y_range.setv({ start: grid.low - margin, end: grid.high + margin });
  modelNamed("threshold").setv({ location: grid.threshold, visible: grid.threshold !== null });
}

// Mark the best cell or the cell selected by keyboard; null removes the mark.
function mark(grid, what, at) {
  const isHere = at !== null && (isMap(grid) || hasValue(grid, at));
  const [x, y] = isHere ? middle(grid, at) : [];
  modelNamed(`${isMap(grid) ? "heatmap" : "curve"} ${what}`).data = {
    x: isHere ? [x] : [],
    y: isHere ? [y] : [],
  };
}

function middle(grid, at) {
  const [first, second] = pairAt(grid, at);
  return isMap(grid) ? [first + 0.5, second + 0.5] : [report.p1[first], grid.values[at]];
}

// Return the cell under the pointer, or null.
function pointedAt(grid) {
  if (!isMap(grid)) return modelNamed("points").inspected.indices[0] ?? null;
  const [cell] = modelNamed("cells").inspected.image_indices;
  return cell ? cell.i * columns(grid) + cell.j : null;
}

// The figure as a whole is one stop of the Tab key. Bokeh's canvas in it must not be another.
function leaveToPage(figure) {
  Bokeh.index.get_one(figure).canvas_view.events_el.tabIndex = -1;
}

// Figures are canvases, so their colours must be set again when those of the page change.
function dress() {
  const style = getComputedStyle(document.documentElement);
  const [text, line, plot] = ["--muted", "--line", "--plot"].map((name) =>
    style.getPropertyValue(name).trim());
  for (const name of ["heatmap", "curve"]) {
    const figure = modelNamed(name);
    figure.outline_line_color = line;
    for (const axis of [...figure.below, ...figure.left])
      axis.setv({
        axis_label_text_color: text,
        major_label_text_color: text,
        axis_line_color: line,
        major_tick_line_color: line,
        minor_tick_line_color: null,
      });
    for (const grid of figure.center) if ("grid_line_color" in grid) grid.grid_line_color = line;
  }
  modelNamed("heatmap").background_fill_color = plot; // visible where there is no result
  modelNamed("threshold").line_color = text;
}
