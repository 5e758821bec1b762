// <button data-confirm="Really?">: asks in a dialog before the button does what it does.
const dialog = document.getElementById("confirm-dialog");

document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest?.("[data-confirm]");
    if (!button || !dialog || button.dataset.confirmed) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // also before htmx
    ask(button);
  },
  true,
);

function ask(button) {
  dialog.querySelector("#confirm-text").textContent = button.dataset.confirm;
  const yes = dialog.querySelector("[data-confirm-yes]");
  yes.classList.toggle("button-danger", button.classList.contains("button-danger"));
  yes.classList.toggle("button-primary", !button.classList.contains("button-danger"));
  dialog.returnValue = "no"; // Escape leaves it so
  dialog.addEventListener("close", () => proceed(button), { once: true });
  dialog.showModal();
}

function proceed(button) {
  button.focus();
  if (dialog.returnValue !== "yes") return;
  button.dataset.confirmed = "1";
  button.click();
  delete button.dataset.confirmed;
}
