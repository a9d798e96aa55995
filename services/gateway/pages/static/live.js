// Keeps a battle's page up to date: each event fetches the page again and swaps its content, so that there is
// one rendering, the server's, and everything in it stays escaped. Where no stream is free, the page is fetched
// every two seconds instead. After the end of the battle it asks now and then whether there is a later event,
// such as a vote or the labels of an edited list.
"use strict";

const EVERY_MS = 2000; // between fetches while the battle runs
const LATER_MS = 5000; // between questions for later events

const main = document.querySelector("main[data-events]");
const refresh = refresher(location.pathname + location.search, swap);

function swap(fresh) {
  const next = fresh.querySelector("main[data-events]");
  if (!next || (next.dataset.seen === main.dataset.seen && next.dataset.waiting === main.dataset.waiting)) return;
  for (const open of main.querySelectorAll("details[open][id]")) {
    const same = next.querySelector("#" + CSS.escape(open.id));
    if (same) same.open = true;
  }
  for (const box of main.querySelectorAll("input.unfold:checked, .filters input:checked")) {
    const same = next.querySelector("#" + CSS.escape(box.id));
    if (same) same.checked = true;
  }
  const focused = document.activeElement?.closest("[id]")?.id;
  const form = main.querySelector("#nugget-form");
  if (form && isKept(form, next.querySelector("#nugget-form"))) replaceAround(form, placeOf(form, next));
  else main.replaceChildren(...next.childNodes);
  Object.assign(main.dataset, next.dataset);
  if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus();
}

function contents(form) {
  return new URLSearchParams(new FormData(form)).toString();
}

function asServed(part) {
  const form = part.querySelector("form").cloneNode(true);
  form.reset();
  return contents(form);
}

// The form to edit nuggets stays if somebody has changed a field of it, or if nothing in it is new.
function isKept(part, same) {
  return contents(part.querySelector("form")) !== asServed(part) || (same && asServed(part) === asServed(same));
}

// Where the form is on the fresh page. While new labels are made, that page has none: then it comes last.
function placeOf(part, next) {
  const same = next.querySelector("#" + part.id);
  if (same) return same;
  const section = next.querySelector("section[aria-labelledby=nugget-list]");
  return (section ?? next.appendChild(part.parentElement.cloneNode())).appendChild(part.cloneNode());
}

// Replaces everything around a part, which never leaves the page: its fields, selection and undo history stay.
function replaceAround(part, same) {
  for (let [now, fresh] = [part, same]; now !== main; [now, fresh] = [now.parentElement, fresh.parentElement]) {
    const siblings = [...fresh.parentElement.childNodes];
    const at = siblings.indexOf(fresh);
    while (now.previousSibling) now.previousSibling.remove();
    while (now.nextSibling) now.nextSibling.remove();
    now.before(...siblings.slice(0, at));
    now.after(...siblings.slice(at + 1));
  }
}

function hear(name, number) {
  if (number <= Number(main.dataset.seen)) return;
  document.querySelector("p.unseen[role=status]").textContent = name; // for those who listen to the page
  refresh();
}

// The stream of a battle that has ended is empty (204) until something else happens to it.
async function ask() {
  const question = new AbortController();
  try {
    const headers = { "last-event-id": main.dataset.seen };
    const response = await fetch(main.dataset.events, { cache: "no-store", headers, signal: question.signal });
    const isNews = response.status === 200;
    question.abort(); // the page has what the stream would say
    if (isNews) await refresh();
  } catch {
    // The server is away; the next turn asks again.
  }
}

function isRunning() {
  return main.dataset.state === "running";
}

function seen() {
  return new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}

async function follow() {
  for (;;) {
    if (isRunning()) await streamInTurn(main.dataset.events, hear, refresh);
    await new Promise((resolve) => setTimeout(resolve, isRunning() ? EVERY_MS : LATER_MS));
    if (document.hidden) await seen();
    await (isRunning() ? refresh() : ask());
  }
}

if (main && location.protocol.startsWith("http")) follow();
