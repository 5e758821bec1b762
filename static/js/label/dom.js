// Small helpers for building DOM nodes. No HTML strings anywhere.

export const $ = (id) => document.getElementById(id);

/** el("button", { class: "button", type: "button", onclick }, "Text", node) */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key === "class" ? "class" : key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = {
  1: "M4.5 10.5l3.7 3.7 7.3-8.4", // a tick
  0: "M5 10h10", // a dash
  "-1": "M5.5 5.5l9 9m0-9l-9 9", // a cross
};

/** The sign of a rating: its shape tells it, not only its colour. */
export function signIcon(rating) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 20 20", class: "sign-icon", "aria-hidden": "true" })) {
    svg.setAttribute(key, value);
  }
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", SHAPES[rating]);
  svg.append(path);
  return svg;
}

/** Writes text only when it differs: screen readers then hear real changes only. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** t("step", { n: 3, total: 5 }) from the page's translated strings. Pure but for the table it is given. */
export function makeStrings(table) {
  return (name, values = {}) => {
    const text = table[name] ?? name;
    return text.replace(/\{(\w+)\}/g, (all, key) => (key in values ? String(values[key]) : all));
  };
}

export const readJson = (id) => JSON.parse($(id)?.textContent || "{}");
