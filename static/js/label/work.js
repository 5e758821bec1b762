// "Take back" on the page of recent work: reopens the label and goes to the labeling page with it.
import { cookie } from "../cookie.js";
import { makeApi } from "./api.js";
import { readJson } from "./dom.js";

const { urls } = readJson("label-config");
const api = makeApi({ urls, token: () => cookie("csrftoken") });
const problem = document.getElementById("reopen-error");

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-reopen]");
  if (!button) return;
  button.disabled = true;
  try {
    sessionStorage.setItem("stepmark.reopened", JSON.stringify(await api.reopen(button.dataset.reopen)));
    location.assign("/label/");
  } catch (error) {
    button.disabled = false;
    problem.textContent = error.message;
    problem.hidden = false;
  }
});
