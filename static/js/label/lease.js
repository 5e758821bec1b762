// Keeps the solution on screen ours while a person is at it: an unchanged draft extends the lease.

const LOOK_EVERY_MS = 30_000;

export function keepAlive({ store, autosave, timer, every = setInterval, now = () => performance.now() }) {
  let heard = now(); // when the server last heard of this solution
  store.watch((state, before, event) => {
    if (event.type === "saved" || event.type === "work") heard = now();
  });
  every(() => {
    const { task } = store.state;
    if (!task || timer.isIdle()) return;
    if (now() - heard > (task.lease_seconds * 1000) / 3) autosave.flush({ always: true });
  }, LOOK_EVERY_MS);
}
