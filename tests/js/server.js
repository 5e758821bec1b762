// A small server for the page's course of work: leases, versioned drafts, submits with keys. In memory.
// It follows docs/api.md; `down` cuts the line, `signedOut` ends the session, `lose` drops answers,
// `paused` stops the person.

export const steps = (n) => Array.from({ length: n }, (_unused, i) => `step ${i}`);

export function makeServer(names = ["A", "B", "C"]) {
  const items = names.map((problem, i) => ({ id: i + 1, problem, wrong: problem.endsWith("!"), draft: {}, version: 0, status: "open" }));
  const server = { items, labels: [], calls: [], down: false, signedOut: false, paused: false, lose: 0, fault: null, slow: null };
  const find = (id) => items.find((item) => item.id === Number(id));
  const live = () => items.filter((item) => item.status === "leased");

  const assignment = ({ id, problem, draft, version }) => ({ id, problem, answer: "7", steps: steps(3), mode: "first_error", reasons: ["wrong rule"], draft, draft_version: version, lease_seconds: 1800 });
  const progress = () => ({ phase: "work", done: server.labels.length, total: null, today: server.labels.length });
  const refuse = (status, code, extra = {}) => ({ status, body: { code, message: code, ...extra } });

  function next(have) {
    if (server.paused) return { state: "paused", message: "", reason: "gold", progress: progress() };
    const held = live().find((item) => !have.includes(item.id));
    const fresh = live().length < 2 ? items.find((item) => item.status === "open") : null;
    const item = held ?? fresh;
    if (item) {
      item.status = "leased";
      return { state: "work", assignment: assignment(item), progress: progress() };
    }
    return { state: live().length ? "hold" : "done", message: "", progress: progress() };
  }
  function saveDraft(item, { version, draft }) {
    if (!item || item.status === "gone") return refuse(404, "not_yours");
    if (item.status === "submitted") return refuse(409, "already_submitted");
    if (version !== item.version) return refuse(409, "stale_draft", { draft: item.draft, version: item.version });
    Object.assign(item, { draft, version: version + 1 });
    return { status: 200, body: { version: item.version } };
  }
  function submit(item, body) {
    const before = server.labels.find((label) => label.body.idempotency_key === body.idempotency_key);
    if (!before) {
      if (!item || item.status === "gone") return refuse(404, "not_yours");
      if (item.status === "submitted") return refuse(409, "already_submitted");
      if (item.wrong && body.finish_reason === "solution" && !body.answer_confirmed) return refuse(409, "confirm_answer");
      item.status = "submitted";
      server.labels.push({ id: 100 + server.labels.length, assignment: item.id, body });
    }
    const label = before ?? server.labels.at(-1);
    return { status: 200, body: { label: label.id, revision: 1, assignment: label.assignment, undo_until: "2999-01-01T00:00:00Z", next: next([]) } };
  }
  function reopen(id) {
    const label = server.labels.find((made) => made.id === Number(id));
    const item = find(label.assignment);
    Object.assign(item, { status: "leased", draft: { ratings: label.body.ratings }, version: item.version + 1 });
    return { status: 200, body: { state: "work", assignment: assignment(item), progress: progress() } };
  }
  function handle(method, url, body) {
    const [, id] = url.match(/(\d+)/) ?? [];
    if (url.includes("/next/")) return { status: 200, body: next(body.have) };
    if (url.includes("/draft/")) return saveDraft(find(id), body);
    if (url.includes("/submit/")) return submit(find(id), body);
    return reopen(id);
  }

  server.fetch = async (url, { method, body }) => {
    server.calls.push(`${method} ${url}`);
    await server.slow;
    if (server.down) throw new TypeError("Failed to fetch");
    if (server.signedOut) return answer(403, { code: "not_authenticated", message: "no" });
    if (server.fault) return answer(server.fault, null);
    const result = handle(method, url, JSON.parse(body));
    if (server.lose > 0) {
      server.lose -= 1;
      throw new TypeError("the answer was lost on the way");
    }
    return answer(result.status, result.body);
  };
  return server;
}

const answer = (status, body) => ({
  status, ok: status < 300, type: "basic",
  json: async () => {
    if (body === null) throw new SyntaxError("not JSON");
    return structuredClone(body);
  },
});

/** localStorage as a Map; `full` refuses to keep anything. */
export function makeStorage() {
  const map = new Map();
  return {
    full: false,
    get length() { return map.size; },
    key: (i) => [...map.keys()][i] ?? null,
    getItem: (name) => map.get(name) ?? null,
    setItem(name, value) {
      if (this.full) throw new Error("QuotaExceededError");
      map.set(name, String(value));
    },
    removeItem: (name) => map.delete(name),
  };
}
