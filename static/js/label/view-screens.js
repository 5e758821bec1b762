// What stands in the middle when there is nothing to judge: one clear screen per state.
import { el } from "./dom.js";

const TITLES = new Set(["loading", "wait", "done", "paused", "failed", "screening_over", "guidelines", "hold", "offline", "error"]);

/** The nodes of a screen. Pure but for making nodes. */
export function screenNodes(state, { t, urls, on }) {
  const { screen, message, detail } = state;
  const title = TITLES.has(screen) ? `${screen}_title` : "error_title";
  const retry = () => on({ type: "again" });
  const nodes = [el("h2", {}, t(title))];
  const rest = withoutTitle(message, t(title));
  if (rest) nodes.push(el("p", {}, rest));
  if (detail.reason) nodes.push(el("p", { class: "notice" }, detail.reason));
  nodes.push(...(EXTRA[screen]?.({ t, urls, detail, retry }) ?? []));
  return nodes.filter(Boolean);
}

/** The server's sentence often begins as the title does: "All done: there is nothing left". Pure. */
export function withoutTitle(message, title) {
  if (!message.toLowerCase().startsWith(title.toLowerCase())) return message;
  const rest = message.slice(title.length).replace(/^[\s:.,!]+/, "");
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

const link = (text, href, primary = true) => el("a", { class: primary ? "button button-primary" : "button", href }, text);
const button = (text, onclick, primary = true) => el("button", { class: primary ? "button button-primary" : "button", type: "button", onclick }, text);
const row = (...nodes) => el("p", { class: "button-row button-row-middle" }, ...nodes);

const EXTRA = {
  wait: ({ t, urls, detail, retry }) => [
    waitDetail(t, detail),
    el("p", { class: "muted small" }, t("wait_again")),
    row(button(t("try_again"), retry), link(t("to_work"), urls.work, false)),
  ],
  done: ({ t, urls, retry }) => [
    el("p", { class: "muted small" }, t("wait_again")),
    row(link(t("to_work"), urls.work), button(t("try_again"), retry, false)),
  ],
  paused: ({ t, urls, retry }) => [row(link(t("to_work"), urls.work), button(t("try_again"), retry, false))],
  failed: ({ t, urls }) => [row(link(t("to_result"), urls.result))],
  screening_over: ({ t, urls, retry }) => [row(button(t("go_on"), retry), link(t("to_result"), urls.result, false))],
  guidelines: ({ t, urls }) => [row(link(t("to_guidelines"), urls.guidelines))],
  hold: ({ t, retry }) => [row(button(t("try_again"), retry))],
  offline: ({ t, retry }) => [el("p", {}, t("offline_text")), row(button(t("try_again"), retry))],
  error: ({ t, retry }) => [row(button(t("try_again"), retry))],
};

function waitDetail(t, { in_progress: n = 0, earliest_free_at: at }) {
  if (!n) return null;
  if (!at) return el("p", {}, t("wait_detail_no_time", { n }));
  const time = new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return el("p", {}, t("wait_detail", { n, time }));
}
