// Lines over time, drawn by uPlot. Each has a legend of buttons, which show and hide lines, and a box of the values at
// the pointer. The table of sums has what screen readers need.

import { element } from "/playground/elements.js";
import { count, dollars, seconds, short } from "./format.js";

const HEIGHT = 160;
const DAY_SECONDS = 86_400;
const COLOURS = 8;
const DASHES = [6, 4];
const drawn = [];

// What a chart shows of a summary: lines of { name, values, colour, isDashed }, and a note beside its title.
const CHARTS = [
  { title: "Cost", format: (value) => dollars(value), lines: costLines },
  { title: "Tokens", format: short, lines: tokenLines },
  { title: "Seconds", format: seconds, lines: secondLines, note: sampleNote },
  { title: "Failed calls", format: short, lines: failedLines },
];

export function drawCharts(place, summary) {
  for (const each of drawn.splice(0)) each.destroy();
  place.replaceChildren(...CHARTS.map((chart) => figureOf(chart, summary)));
  for (const each of drawn) each.resize();
}

function costLines(summary) {
  const estimated = summary.groups.map((group) => group.estimated);
  return [...byGroup(summary, (group) => group.known), sum("estimated, of all", estimated)];
}

function tokenLines(summary) {
  return byGroup(summary, (group) => group.input_tokens.map((input, index) => input + group.output_tokens[index]));
}

function secondLines(summary) {
  const colours = new Map(summary.groups.map((group, index) => [group.name, index]));
  return summary.seconds.flatMap((group) => [
    { name: `${group.name}, median`, values: group.median, colour: colours.get(group.name) ?? COLOURS - 1 },
    { name: `${group.name}, 95 %`, values: group.p95, colour: colours.get(group.name) ?? COLOURS - 1, isDashed: true },
  ]);
}

function sampleNote(summary) {
  return summary.is_sample ? `of the latest ${count(summary.sampled)} calls` : null;
}

function failedLines(summary) {
  const unknown = summary.groups.map((group) => group.unknown);
  return [...byGroup(summary, (group) => group.failed), sum("of unknown cost, all", unknown)];
}

function byGroup(summary, valuesOf) {
  return summary.groups.map((group, index) => ({ name: group.name, values: valuesOf(group), colour: index }));
}

function sum(name, lists) {
  const values = (lists[0] ?? []).map((_, index) => lists.reduce((total, list) => total + list[index], 0));
  return { name, values, colour: null, isDashed: true };
}

function colourOf(line) {
  const name = line.colour === null ? "--muted" : `--line-${line.colour % COLOURS}`;
  return getComputedStyle(document.body).getPropertyValue(name).trim();
}

function figureOf(chart, summary) {
  const lines = chart.lines(summary).filter((line) => line.values.some((value) => value));
  const values = element("div", { class: "values", hidden: "" });
  const area = element("div", { class: "area", role: "img", "aria-label": `${chart.title} over time; the table has the sums` });
  const note = chart.note?.(summary);
  const title = element("h2", {}, chart.title, note ? element("span", { class: "muted" }, ` ${note}`) : null);
  const figure = element("figure", { class: "chart" }, title, element("div", { class: "plot" }, area, values));
  if (!lines.length || !summary.times.length) {
    area.append(element("p", { class: "hint" }, summary.times.length ? "None in this range." : "No calls in this range."));
    return figure;
  }
  const plot = plotOf(chart, lines, summary, area, values);
  figure.append(legendOf(lines, plot));
  return figure;
}

// uPlot would show two years around a single time.
function rangeOf(times) {
  const [first, last] = [times[0], times.at(-1)];
  return first === last ? [first - DAY_SECONDS / 2, first + DAY_SECONDS / 2] : [first, last];
}

function plotOf(chart, lines, summary, area, values) {
  const style = getComputedStyle(document.body);
  const [text, grid] = ["--muted", "--line"].map((name) => style.getPropertyValue(name).trim());
  const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "12px system-ui, sans-serif" };
  const isShort = summary.times.length < 40;
  const options = {
    width: 320,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { x: { range: () => rangeOf(summary.times) }, y: { range: (_, __, highest) => [0, highest > 0 ? highest * 1.1 : 1] } },
    axes: [{ ...axis, size: 28, values: (_, ticks) => dates(ticks) }, { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => (tick === 0 ? "0" : chart.format(tick))) }],
    series: [
      {},
      ...lines.map((line) => ({
        stroke: colourOf(line),
        width: 2,
        spanGaps: true,
        points: { show: isShort, size: 5 },
        ...(line.isDashed ? { dash: DASHES } : {}),
      })),
    ],
    hooks: { setCursor: [(plot) => showValues(plot, chart, lines, values)] },
  };
  const plot = new window.uPlot(options, [summary.times, ...lines.map((line) => line.values)], area);
  const resize = () => area.clientWidth && plot.setSize({ width: area.clientWidth, height: HEIGHT });
  const observer = new ResizeObserver(resize);
  observer.observe(area);
  drawn.push({
    resize,
    destroy: () => {
      observer.disconnect();
      plot.destroy();
    },
  });
  return plot;
}

function showValues(plot, chart, lines, values) {
  const { idx: index, left } = plot.cursor;
  values.hidden = index === null || index === undefined;
  if (values.hidden) return;
  const when = new Date(plot.data[0][index] * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  const shown = lines.flatMap((line, number) => {
    const value = line.values[index];
    return value && plot.series[number + 1].show ? [element("div", {}, `${line.name}: ${chart.format(value)}`)] : [];
  });
  values.classList.toggle("at-left", left > plot.bbox.width / devicePixelRatio / 2);
  values.replaceChildren(element("div", { class: "muted" }, when), ...shown);
}

function dates(ticks) {
  const areDays = ticks.length < 2 || ticks[1] - ticks[0] >= DAY_SECONDS;
  const form = areDays ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit" };
  return ticks.map((tick) => new Date(tick * 1000).toLocaleString("en-GB", form));
}

function legendOf(lines, plot) {
  const items = lines.map((line, number) => {
    const swatch = element("span", { class: line.isDashed ? "swatch dashed" : "swatch" });
    swatch.style.color = colourOf(line);
    const button = element("button", { type: "button", "aria-pressed": "true" }, swatch, line.name);
    button.addEventListener("click", () => {
      const isShown = !plot.series[number + 1].show;
      plot.setSeries(number + 1, { show: isShown });
      button.setAttribute("aria-pressed", String(isShown));
    });
    return element("li", {}, button);
  });
  return element("ul", { class: "legend" }, ...items);
}
