// The rules of a judgement, on plain data. Pure; the server holds the same ones.
//
// Ratings: 1 great, 0 okay, -1 bad, null not rated; one per step, from the first.

export const GREAT = 1;
export const OKAY = 0;
export const BAD = -1;

/** Where the first bad step is; -1 when there is none. */
export const firstError = (ratings) => ratings.indexOf(BAD);

/** What counts: in first_error mode nothing after the first bad step, even if it was rated before. */
export function effective(ratings, mode) {
  const stop = mode === "full" ? -1 : firstError(ratings);
  return stop < 0 ? [...ratings] : ratings.map((rating, i) => (i > stop ? null : rating));
}

/** The first step that waits for a rating; -1 when none does. */
export function firstUnrated(ratings, mode) {
  const counted = effective(ratings, mode);
  if (mode !== "full" && firstError(counted) >= 0) return -1;
  return counted.indexOf(null);
}

/** The last step that may be rated now: later ones are readable but quiet. */
export function reach(ratings, mode) {
  if (mode === "full") return ratings.length - 1;
  const stop = firstError(ratings);
  if (stop >= 0) return stop;
  const unrated = ratings.indexOf(null);
  return unrated < 0 ? ratings.length - 1 : unrated;
}

/** Whether the judgement is complete, and if not, the step (from 0) that it waits for. */
export function completeness(ratings, mode) {
  const waiting = firstUnrated(ratings, mode);
  return { complete: waiting < 0, waiting };
}

export function finishReason(ratings, mode) {
  return firstError(effective(ratings, mode)) >= 0 ? "found_error" : "solution";
}

/** Reasons only of the steps that still carry a 0 or -1. */
export function effectiveReasons(reasons, ratings, mode) {
  const counted = effective(ratings, mode);
  const kept = Object.entries(reasons).filter(([step]) => counted[step] === OKAY || counted[step] === BAD);
  return Object.fromEntries(kept);
}

const withoutTail = (ratings) => {
  let end = ratings.length;
  while (end > 0 && ratings[end - 1] === null) end -= 1;
  return ratings.slice(0, end);
};

/** The body of /submit/ (docs/api.md). `extra`: finish, note, answerConfirmed, key, times. */
export function submission(state, extra) {
  const { ratings, reasons, keyDisputed, task } = state;
  return {
    idempotency_key: extra.key,
    finish_reason: extra.finish ?? finishReason(ratings, task.mode),
    ratings: withoutTail(effective(ratings, task.mode)),
    step_reasons: effectiveReasons(reasons, ratings, task.mode),
    note: extra.note ?? "",
    key_disputed: extra.keyDisputed ?? keyDisputed,
    answer_confirmed: extra.answerConfirmed ?? false,
    total_time_ms: Math.round(extra.times.total),
    active_time_ms: Math.round(extra.times.active),
  };
}

/** The draft that is saved while the work is unfinished. */
export function draftOf(state, times) {
  return {
    ratings: state.ratings,
    reasons: state.reasons,
    note: state.note,
    key_disputed: state.keyDisputed,
    active_ms: Math.round(times.active),
    total_ms: Math.round(times.total),
  };
}

/** Whether two drafts say the same; times do not count. */
export function sameDraft(a, b) {
  const view = (draft) =>
    JSON.stringify([
      withoutTail(draft?.ratings ?? []),
      Object.entries(draft?.reasons ?? {}).sort(),
      draft?.note ?? "",
      draft?.key_disputed ?? false,
    ]);
  return view(a) === view(b);
}

/** How many steps of a draft are rated. */
export const ratedCount = (draft) => (draft?.ratings ?? []).filter((rating) => rating !== null).length;
