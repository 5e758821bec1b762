// The labeling page as one plain state and one pure function from (state, event) to the next state.
import { BAD, effective, firstUnrated, reach } from "./rules.js";

export const EMPTY = Object.freeze({
  screen: "loading", // work, or a state of /next/: hold, wait, done, paused, failed, screening_over, guidelines
  message: "",
  detail: {},
  progress: null,
  task: null,
  ratings: [],
  reasons: {},
  note: "",
  keyDisputed: false,
  current: 0,
  raw: {}, // steps shown as source
  history: [], // what Undo brings back, oldest first
  edits: 0, // grows with every change of the judgement
  savedEdits: 0,
  version: 0, // of the draft on the server
  save: "saved", // saved, saving, unsaved
  sending: false,
  unsent: 0, // finished judgements that wait for the line
  onWay: 0, // and those that are being sent just now
  last: null, // the label submitted last: { label, assignment, undo_until }
});

const MOST_UNDO = 200;
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

const HANDLERS = {
  work: (state, { assignment, progress, draft }) => open(state, assignment, progress, draft),
  state: (state, { type: _type, state: screen, message, progress, ...detail }) => ({
    ...state, ...cleared(), screen, message: message ?? "", detail, progress: progress ?? state.progress,
  }),
  rate: (state, { step, value }) => rate(state, step, value),
  move: (state, { by }) => moveTo(state, state.current + by),
  goto: (state, { step }) => moveTo(state, step),
  unrated: (state) => moveTo(state, Math.max(firstUnrated(state.ratings, state.task?.mode), 0)),
  undo: (state) => undo(state),
  reason: (state, { step, reason }) => setReason(state, step, reason),
  dispute: (state) => edited(state, { keyDisputed: !state.keyDisputed }),
  note: (state, { note }) => (note === state.note ? state : { ...state, note, edits: state.edits + 1, save: "unsaved" }),
  raw: (state, { step = state.current }) => ({ ...state, raw: { ...state.raw, [step]: !state.raw[step] } }),
  saving: (state) => ({ ...state, save: "saving" }),
  saved: (state, { version, edits }) => ({
    ...state, version, savedEdits: edits, save: edits === state.edits ? "saved" : "unsaved",
  }),
  unsaved: (state) => ({ ...state, save: "unsaved" }),
  version: (state, { version }) => ({ ...state, version }),
  sending: (state, { on }) => ({ ...state, sending: on }),
  unsent: (state, { count, onWay = 0 }) => ({ ...state, unsent: count, onWay }),
  progress: (state, { progress }) => (progress ? { ...state, progress } : state),
  submitted: (state, { last }) => ({ ...state, last }),
  forget: (state) => ({ ...state, last: null }),
};

/** The next state; an event that changes nothing gives the same object back. */
export function reduce(state, event) {
  const handler = HANDLERS[event.type];
  if (!handler) throw new Error(`no such event: ${event.type}`);
  return handler(state, event);
}

const cleared = () => ({
  task: null, ratings: [], reasons: {}, note: "", keyDisputed: false, current: 0, raw: {}, history: [],
  edits: 0, savedEdits: 0, version: 0, save: "saved", sending: false,
});

function open(state, task, progress, given) {
  const draft = given ?? task.draft ?? {};
  const ratings = task.steps.map((_step, i) => draft.ratings?.[i] ?? null);
  const waiting = firstUnrated(ratings, task.mode);
  return {
    ...state, ...cleared(), screen: "work", message: "", detail: {}, task, progress: progress ?? state.progress, ratings,
    reasons: { ...(draft.reasons ?? {}) }, note: draft.note ?? "", keyDisputed: Boolean(draft.key_disputed),
    version: task.draft_version ?? 0, current: waiting < 0 ? reach(ratings, task.mode) : waiting,
  };
}

/** A change that Undo can take back. */
function edited(state, change) {
  if (!state.task || state.sending) return state;
  const { ratings, reasons, keyDisputed, current } = state;
  const history = [...state.history, { ratings, reasons, keyDisputed, current }].slice(-MOST_UNDO);
  return { ...state, ...change, history, edits: state.edits + 1, save: "unsaved" };
}

function rate(state, step, value) {
  const { task, ratings } = state;
  if (!task || step < 0 || step > reach(ratings, task.mode)) return state;
  if (effective(ratings, task.mode)[step] === value) return moveTo(state, step);
  const next = ratings.map((rating, i) => (i === step ? value : rating));
  const ends = value === BAD && task.mode !== "full";
  const waiting = firstUnrated(next, task.mode);
  return edited(state, { ratings: next, current: ends || waiting < 0 ? step : waiting });
}

function moveTo(state, step) {
  if (!state.task) return state;
  const current = clamp(step, 0, reach(state.ratings, state.task.mode));
  return current === state.current ? state : { ...state, current };
}

function undo(state) {
  const before = state.history.at(-1);
  if (!before || state.sending) return state;
  return { ...state, ...before, history: state.history.slice(0, -1), edits: state.edits + 1, save: "unsaved" };
}

function setReason(state, step, reason) {
  const reasons = { ...state.reasons };
  if (reasons[step] === reason) delete reasons[step];
  else reasons[step] = reason;
  return edited(state, { reasons });
}
