// Keeps a battle's page up to date: each event fetches the page again and swaps its content, so that there is
// one rendering, the server's, and everything in it stays escaped. After the end of the battle it asks now and
// then whether there is a later event, such as a vote or the labels of an edited list.
"use strict";

const NAMES = ["submitted", "scraped", "indexed", "retrieved", "nuggetized", "assigned", "judged", "graded", "voted", "failed"];

const WAITING_SHOWN_MS = 10000; // no event says that the model is away

const LATER_MS = 5000; // between questions for later events

const main = document.querySelector("main[data-events]");
let refreshing = false;
let again = false;

async function refresh() {
  if (refreshing) {
    again = true;
    return;
  }
  refreshing = true;
  do {
    again = false;
    try {
      const response = await fetch(location.pathname, { cache: "no-store" });
      if (response.ok) swap(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch {
      // The server is away; the event source comes back by itself and brings the next event.
    }
  } while (again);
  refreshing = false;
}

function swap(fresh) {
  const next = fresh.querySelector("main[data-events]");
  if (!next || (next.dataset.seen === main.dataset.seen && next.dataset.waiting === main.dataset.waiting)) return;
  for (const open of main.querySelectorAll("details[open][id]")) {
    const same = next.querySelector("#" + CSS.escape(open.id));
    if (same) same.open = true;
  }
  for (const box of main.querySelectorAll("input.unfold:checked")) {
    const same = next.querySelector("#" + CSS.escape(box.id));
    if (same) same.checked = true;
  }
  const focused = document.activeElement?.closest("[id]")?.id;
  main.replaceChildren(...next.childNodes);
  Object.assign(main.dataset, next.dataset);
  if (focused && main.contains(document.getElementById(focused))) document.getElementById(focused).focus();
}

function follow() {
  const source = new EventSource(main.dataset.events);
  for (const name of NAMES) {
    source.addEventListener(name, (event) => {
      if (Number(event.lastEventId) <= Number(main.dataset.seen)) return;
      document.querySelector("p.unseen[role=status]").textContent = name; // for those who listen to the page
      refresh();
    });
  }
  const looking = setInterval(refresh, WAITING_SHOWN_MS);
  source.addEventListener("ended", () => {
    source.close();
    clearInterval(looking);
    refresh();
    setInterval(ask, LATER_MS);
  });
}

// The stream of a battle that has ended is empty (204) until something else happens to it.
async function ask() {
  if (document.hidden) return;
  const question = new AbortController();
  try {
    const headers = { "last-event-id": main.dataset.seen };
    const response = await fetch(main.dataset.events, { cache: "no-store", headers, signal: question.signal });
    const isNews = response.status === 200;
    question.abort(); // the page has what the stream would say
    if (isNews) refresh();
  } catch {
    // The server is away; the next turn asks again.
  }
}

if (main && location.protocol.startsWith("http")) {
  if (main.dataset.state === "running") follow();
  else setInterval(ask, LATER_MS);
}
