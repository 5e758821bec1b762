// What the server has not confirmed yet, in the browser's own storage: drafts and submits.
//
// One entry per assignment and kind: { kind: "draft", id, version, draft, title, at } or
// { kind: "submit", id, body, title, at }. An entry goes only when the server has answered.

const PREFIX = "stepmark.journal";
const OLD_MS = 30 * 24 * 3600 * 1000; // a draft that nobody came back to: its lease is long over

/** `storage` is like localStorage; `owner` keeps people who share a browser apart. */
export function makeJournal(storage, owner, now = Date.now) {
  const prefix = `${PREFIX}.${owner}.`;
  const name = (kind, id) => `${prefix}${kind}.${id}`;

  function write(kind, id, fields) {
    try {
      storage.setItem(name(kind, id), JSON.stringify({ kind, id, at: now(), ...fields }));
      return true;
    } catch {
      return false; // storage full or forbidden: the server copy is then the only one
    }
  }
  function read(key) {
    try {
      return JSON.parse(storage.getItem(key));
    } catch {
      return null;
    }
  }
  function remove(key) {
    try {
      storage.removeItem(key);
    } catch {
      // nothing was written either
    }
  }
  function names() {
    try {
      return Array.from({ length: storage.length }, (_unused, i) => storage.key(i)).filter((key) => key?.startsWith(prefix));
    } catch {
      return [];
    }
  }
  const entries = () => names().map(read).filter(Boolean).sort((a, b) => a.at - b.at);

  for (const entry of entries()) if (entry.kind === "draft" && now() - entry.at > OLD_MS) remove(name("draft", entry.id));

  return {
    keepDraft: (id, version, draft, title) => write("draft", id, { version, draft, title }),
    draftOf: (id) => read(name("draft", id)),
    dropDraft: (id) => remove(name("draft", id)),
    keepSubmit: (id, body, title) => write("submit", id, { body, title }),
    submitOf: (id) => read(name("submit", id)),
    dropSubmit: (id) => remove(name("submit", id)),
    submits: () => entries().filter((entry) => entry.kind === "submit"),
    drafts: () => entries().filter((entry) => entry.kind === "draft"),
    /** For people: one entry per solution, the finished judgement rather than its draft. */
    unsent: () => entries().filter((entry) => entry.kind === "submit" || !read(name("submit", entry.id))),
  };
}

/** Which draft to open with: the server's, the browser's, or a choice between the two. Pure. */
export function reconcile(assignment, local, same) {
  const server = assignment.draft ?? {};
  if (!local || same(local.draft, server)) return { use: server, from: "server" };
  if (local.version === assignment.draft_version) return { use: local.draft, from: "browser" };
  return { use: null, from: "choice", local: local.draft, server };
}
