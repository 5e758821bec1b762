// Holds the one state of the page and tells who watches it of every change.

export function makeStore(reduce, initial) {
  let state = initial;
  const watchers = [];
  return {
    get state() {
      return state;
    },
    send(event) {
      const before = state;
      state = reduce(before, event);
      if (state !== before) for (const watch of watchers) watch(state, before, event);
      return state;
    },
    watch: (watcher) => watchers.push(watcher),
  };
}
