// The questions that the page asks, one at a time, in one <dialog>. Each gives a promise of the answer.
import { $, el } from "./dom.js";
import { HELP } from "./keys.js";
import { ratedCount } from "./rules.js";

export function makeDialogs({ t, urls, afterSignIn }) {
  const dialog = $("dialog");
  let queue = Promise.resolve();
  let signingIn = null;

  /** Shows nodes made by build(close); Escape gives null. */
  function ask(title, build) {
    const opened = queue.then(() => new Promise((resolve) => {
      let value = null;
      const close = (given) => {
        value = given;
        dialog.close();
      };
      dialog.replaceChildren(el("h2", { id: "dialog-title" }, title), ...build(close));
      dialog.addEventListener("close", () => resolve(value), { once: true });
      dialog.showModal();
    }));
    queue = opened.catch(() => {});
    return opened;
  }
  const button = (text, onclick, kind = "") => el("button", { class: `button ${kind}`, type: "button", onclick }, text);
  const row = (...buttons) => el("div", { class: "button-row button-row-end" }, ...buttons);

  function reasonForm(close, { text, yes, note, keep }) {
    const field = el("textarea", { id: "reason", maxlength: "4000", rows: "4", autofocus: true, "aria-describedby": "reason-error", oninput: () => keep(field.value) });
    field.value = note;
    const error = el("p", { class: "error", id: "reason-error", role: "alert" });
    const finish = () => {
      if (field.value.trim()) return close(field.value.trim());
      error.textContent = t("reason_needed");
      field.setAttribute("aria-invalid", "true");
      return field.focus();
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) finish();
    });
    return [
      el("p", { class: "muted" }, text),
      el("div", { class: "field" }, el("label", { for: "reason" }, t("why")), field, error),
      row(button(t("cancel"), () => close(null)), button(yes, finish, "button-primary")),
    ];
  }

  return {
    isOpen: () => dialog.open || Boolean(document.querySelector("dialog[open]")),
    /** "give_up" or "bad_problem": the reason, or null. keep(text) hears every change. */
    reason: (kind, note, keep) => ask(t(`${kind}_title`), (close) => reasonForm(close, { text: t(`${kind}_text`), yes: t(`${kind}_yes`), note, keep })),
    /** "wrong": the guess is wrong; "same": both answers mean the same; null: look again. */
    confirmAnswer: (answer, which = "") => ask(t("confirm_title"), (close) => [
      which && el("p", { class: "muted" }, which),
      el("p", {}, t("confirm_text", { answer: answer ?? "?" })),
      el("div", { class: "choices" },
        button(t("confirm_back"), () => close(null), "button-primary"),
        button(t("confirm_wrong"), () => close("wrong")),
        button(t("confirm_same"), () => close("same"))),
    ].filter(Boolean)),
    help: () => ask(t("help_title"), (close) => [
      el("dl", { class: "key-list" }, ...HELP.flatMap(([keys, text]) => [el("dt", {}, ...keys.map((key) => el("kbd", {}, key))), el("dd", {}, t(text))])),
      el("p", { class: "muted small" }, t("help_note")),
      row(button(t("close"), () => close(null), "button-primary")),
    ]),
    /** Resolves when the person says that they are signed in again. */
    signIn() {
      signingIn ??= ask(t("signed_out_title"), (close) => [
        el("p", {}, t("signed_out_text")),
        row(el("a", { class: "button button-primary", href: urls.signIn, target: "_blank", rel: "noopener" }, t("signed_out_open")),
          button(t("signed_out_retry"), () => close(true))),
      ]).then(afterSignIn).finally(() => { signingIn = null; });
      return signingIn;
    },
    /** "mine" or "theirs". */
    stale: (mine, theirs) => ask(t("stale_title"), (close) => [
      el("p", {}, t("stale_text", { n: ratedCount(theirs) })),
      row(button(t("stale_theirs"), () => close("theirs")), button(t("stale_mine", { n: ratedCount(mine) }), () => close("mine"), "button-primary")),
    ]),
    /** The list of what the server has not confirmed; "retry" or null. */
    unsent: (entries) => ask(t("unsent_title"), (close) => [
      entries.length ? el("ul", { class: "unsent" }, ...entries.map((entry) => el("li", {}, entry.title ?? "", el("span", { class: "muted small" }, ` · ${t(`unsent_${entry.kind}`)}`)))) : el("p", {}, t("unsent_none")),
      row(entries.length ? button(t("unsent_now"), () => close("retry")) : null, button(t("close"), () => close(null), "button-primary")),
    ]),
  };
}
