// A battle in a frame: each event fetches the page again and swaps its content, so that there is one rendering,
// the server's. Where there is no event stream, the page is fetched every 1.5 seconds instead. The page around
// the frame is told how high the content is.
"use strict";

const NAMES = [
  "submitted", "scraped", "indexed", "retrieved", "nuggetized", "assigned", "judged", "graded", "voted", "failed",
];
const STREAMS = 3; // a browser opens six connections to a server without HTTP/2, for all frames and tabs
const LOOK_MS = 10000; // in case a proxy holds events back
const EVERY_MS = 1500;
const MOST_TURNS = 400; // ten minutes

const main = document.getElementById("main");
let refreshing = null;
let again = false;

function tell() {
  const { battle, state } = main.dataset;
  const height = Math.ceil(document.body.getBoundingClientRect().height);
  parent.postMessage({ nuggetstream: { battle, state, height } }, "*");
}

function isSettled() {
  return main.dataset.state !== "running" && main.dataset.pending === "no";
}

function swap(fresh) {
  const next = fresh.getElementById("main");
  if (!next) return;
  const isNew = main.innerHTML !== next.innerHTML;
  if (isNew) {
    for (const details of main.querySelectorAll("details[id]")) {
      const same = next.querySelector("#" + CSS.escape(details.id));
      if (same) same.open = details.open;
    }
    const focused = main.contains(document.activeElement) ? document.activeElement.value : null;
    main.replaceChildren(...next.childNodes);
    if (focused) main.querySelector(`button[value="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
  Object.assign(main.dataset, next.dataset);
  if (isNew) tell();
}

async function fetchPage() {
  do {
    again = false;
    try {
      const response = await fetch(location.href, { cache: "no-store" });
      if (response.ok) swap(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch {
      // The server is away; the next event or turn asks again.
    }
  } while (again);
  refreshing = null;
}

function refresh() {
  again = refreshing !== null;
  refreshing ??= fetchPage();
  return refreshing;
}

// Follows the events until the battle has ended or there is no stream.
function stream() {
  return new Promise((resolve) => {
    const source = new EventSource(main.dataset.events);
    const looking = setInterval(refresh, LOOK_MS);
    let opened = false;
    const end = () => {
      source.close();
      clearInterval(looking);
      resolve(refresh());
    };
    for (const name of NAMES) {
      source.addEventListener(name, (event) => {
        if (Number(event.lastEventId) > Number(main.dataset.seen)) refresh();
      });
    }
    source.addEventListener("ended", end);
    source.addEventListener("open", () => (opened = true));
    source.addEventListener("error", () => {
      if (!opened || source.readyState === EventSource.CLOSED) end(); // otherwise it connects again by itself
    });
  });
}

// Follows the events if fewer than STREAMS frames of this browser do; they share locks.
async function streamInTurn() {
  for (let number = 0; number < STREAMS; number += 1) {
    const use = async (lock) => {
      if (lock) await stream();
      return lock !== null;
    };
    try {
      if (await navigator.locks.request(`nuggetstream-stream-${number}`, { ifAvailable: true }, use)) return;
    } catch {
      return;
    }
  }
}

// Also after the end of the battle, until the vote that was just cast is stored: no stream tells that.
async function poll() {
  for (let turn = 0; turn < MOST_TURNS && !isSettled(); turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    if (!document.hidden) await refresh();
  }
}

async function follow() {
  if (main.dataset.state === "running" && navigator.locks) await streamInTurn();
  await poll();
}

new ResizeObserver(tell).observe(document.body);
follow();
