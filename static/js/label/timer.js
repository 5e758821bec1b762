// Time spent on one solution: all of it, and the active part. Pure but for the clock that it is given.

export const IDLE_AFTER_MS = 60_000;

/** `now` is a monotonic clock in milliseconds, such as () => performance.now(). */
export function makeTimer(now, idleAfter = IDLE_AFTER_MS) {
  let total = 0;
  let active = 0;
  let onStep = 0;
  let last = now(); // until here everything is counted
  let touched = last; // the last sign of a person
  let visible = true;

  function count() {
    const at = now();
    const activeUntil = Math.min(at, touched + idleAfter);
    const gained = visible ? Math.max(0, activeUntil - last) : 0;
    total += at - last;
    active += gained;
    onStep += gained;
    last = at;
  }
  const read = () => {
    count();
    return { total, active, onStep };
  };

  return {
    read,
    /** Start over for another solution, with the time already spent on it. */
    restart({ total_ms: spent = 0, active_ms: spentActive = 0 } = {}) {
      last = touched = now();
      total = Number(spent) || 0;
      active = Number(spentActive) || 0;
      onStep = 0;
    },
    step() {
      count();
      onStep = 0;
    },
    touch() {
      count();
      touched = last;
    },
    show(isVisible) {
      count();
      visible = isVisible;
      if (isVisible) touched = last;
    },
    isIdle: () => !visible || now() - touched > idleAfter,
  };
}

/** Minutes and whole seconds of milliseconds. */
export function minutesSeconds(ms) {
  const seconds = Math.floor(ms / 1000);
  return { minutes: Math.floor(seconds / 60), seconds: seconds % 60 };
}
