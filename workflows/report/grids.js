"use strict";
// Grids: the numbers of one figure, unpacked when they are needed.

const element = (id) => document.getElementById(id);
const report = JSON.parse(element("report-data").textContent);

// The reverse of packing.py: bytes grouped by significance, compressed, in base64.
async function unpack(text, Kind) {
  const deflated = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
  const ranks = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = Kind.BYTES_PER_ELEMENT;
  const length = ranks.length / size;
  const bytes = new Uint8Array(ranks.length);
  for (let rank = 0; rank < size; rank++)
    for (let at = 0; at < length; at++) bytes[at * size + rank] = ranks[rank * length + at];
  return new Kind(bytes.buffer);
}

const decimals = (value) => value.toFixed(3).replace("-0.000", "0.000");
const dataSets = (number) => (number === 1 ? "1 data set" : `${number} data sets`);

// A grid has values, which are NaN without a result, their texts, and whether they are above a
// score. Means are float32, so the score that they are compared with is rounded in the same way.
async function meanGrid({ picture, result }) {
  const values = await unpack(picture.means, Float32Array);
  const numbers = await unpack(picture.numbers, Uint32Array);
  return {
    result,
    values,
    best: picture.best,
    expected: picture.expected,
    text: (at) => decimals(values[at]),
    source: (at) => `mean of ${dataSets(numbers[at])}`,
    isAbove: (at, score) => values[at] > Math.fround(score),
  };
}

// Scores of one data set are codes of half thousandths, rounded up; 0 stands for no result. Scores
// without an upper bound are float32, as means are.
async function singleGrid({ picture, result, place }) {
  const { labels, grids, best, expected } = picture.datasets;
  const all = await unpack(grids, result.unbounded ? Float32Array : Uint32Array);
  const length = all.length / labels.length;
  const codes = all.subarray(place * length, (place + 1) * length);
  const codeOf = (score) => report.zero + Math.ceil(report.steps * score - 1e-9);
  const thousandth = (code) => Math.floor((code - report.zero) / 2) / 1000;
  const asItIs = result.counts || result.unbounded;
  const value = asItIs ? (code) => code : thousandth;
  return {
    result,
    values: Float64Array.from(codes, (code) =>
      code === 0 && !result.unbounded ? NaN : value(code)),
    best: best && best[place],
    expected: expected && expected[place],
    text: (at) => (result.counts ? String(codes[at]) : decimals(value(codes[at]))),
    source: () => `data set ${labels[place]}`,
    isAbove: (at, score) => codes[at] > codeOf(score),
  };
}

// Return a range in thousandths around all values and the score of k-means++. Its lower end is
// below the lowest value.
function scaleOf({ values, expected }) {
  let low = expected ?? Infinity;
  let high = expected ?? -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { low: Math.ceil(1000 * low - 1 - 1e-9) / 1000, high: Math.ceil(1000 * high) / 1000 };
}
