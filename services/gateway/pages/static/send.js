// Sends forms with `data-api` to the API as JSON, with the names of their fields as paths, and says what it
// answers. With `data-then` the page of the battle follows. Such forms are seen only where scripts run.
// A field with `data-addresses` holds addresses of pages, one per line; one with `data-passage` behind it the text
// of one more source. A button with `data-fill` puts an example into those fields of its form that are empty or
// as they came.
"use strict";

document.documentElement.classList.add("scripts");
document.querySelector("details.scripted:target")?.setAttribute("open", "");

function linesOf(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

function bodyOf(form, button) {
  const body = {};
  for (const [name, value] of new FormData(form, button)) {
    const [last, ...path] = name.split(".").reverse();
    if (!value) continue;
    const { addresses, passage } = form.elements[name].dataset ?? {};
    const part = path.reverse().reduce((outer, key) => (outer[key] ??= {}), body);
    if (passage !== undefined) (part.sources ??= []).push({ text: value });
    else part[last] = addresses === undefined ? value : linesOf(value).map((url) => ({ url }));
  }
  return body;
}

async function send(form, button) {
  const said = form.querySelector("[role=status]");
  const headers = { "content-type": "application/json" };
  if (form.dataset.csrf) headers["x-csrf-token"] = form.dataset.csrf;
  said.textContent = "Sending…";
  try {
    const body = JSON.stringify(bodyOf(form, button));
    const response = await fetch(form.dataset.api, { method: "POST", headers, body });
    const reply = await response.json();
    if (response.ok && form.dataset.then) location.assign(form.dataset.then + encodeURIComponent(reply.battle_id));
    said.textContent = response.ok ? form.dataset.done : [reply.detail ?? reply.title, ...(reply.problems ?? [])].join(" ");
  } catch {
    said.textContent = "The server does not answer.";
  }
}

document.addEventListener("click", ({ target }) => {
  if (!target.matches("[data-fill]")) return;
  for (const [name, value] of Object.entries(JSON.parse(target.form.dataset.example))) {
    const field = target.form.elements[name];
    if (!field.value.trim() || field.value === field.defaultValue) field.value = value;
  }
});

document.addEventListener("input", ({ target }) => {
  if (!target.matches("[data-addresses]")) return;
  const wrong = linesOf(target.value).find((line) => !/^https?:\/\/[^\s/]\S*$/i.test(line));
  target.setCustomValidity(wrong ? `“${wrong}” is not an address such as https://example.org/page.` : "");
});

document.addEventListener("submit", (event) => {
  if (!event.target.dataset.api) return;
  event.preventDefault();
  send(event.target, event.submitter);
});
