// Keeps the list of battles up to date while the box "Live" is checked and the page is visible: the page is
// fetched again and its list and counts swapped, so that there is one rendering, the server's. A page is asked for again
// some time after it has come, and later the longer its search took. The arrow keys, j and k lead from battle to battle.
"use strict";

const EVERY_MS = 4000;
const MOST_MS = 120000;
const PAUSE = 4; // the pause after a fetch, as a multiple of the time that it took
const SOON_MS = 300; // after an event, so that several that come together are one fetch
const KINDS = ["submitted", "ended", "voted"];
const LINKS = "#feed th[scope=row] > a";

const live = document.getElementById("live");
let wake = () => {};

async function refresh() {
  if (live && !live.checked) return;
  try {
    const response = await fetch(location.href, { cache: "no-store" });
    if (response.ok) swap(new DOMParser().parseFromString(await response.text(), "text/html"));
  } catch {
    // The server is away; the next turn asks again.
  }
}

// Resolves after a pause, or shortly after a battle has begun or ended, or a person has voted.
function news(pause) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, pause);
    wake = () => {
      clearTimeout(timer);
      setTimeout(resolve, SOON_MS);
    };
  });
}

// One page of the browser follows the events of all battles, since each stream holds a connection.
async function listen() {
  const query = new URLSearchParams([...KINDS.map((kind) => ["kind", kind])]);
  const arena = new URLSearchParams(location.search).get("arena");
  if (arena) query.set("arena", arena);
  await navigator.locks?.request("nuggetstream-feed", { ifAvailable: true }, (lock) => {
    if (!lock) return undefined;
    const source = new EventSource(`/v1/stream?${query}`);
    for (const kind of KINDS) source.addEventListener(kind, () => wake());
    return new Promise(() => {}); // the lock is kept as long as the page
  });
}

function shown() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true })).then(shown);
}

async function follow() {
  for (let pause = EVERY_MS; ; ) {
    await news(pause);
    await shown(); // nothing is fetched for a tab that nobody sees
    const began = performance.now();
    await refresh();
    pause = Math.min(Math.max(EVERY_MS, PAUSE * (performance.now() - began)), MOST_MS);
  }
}

function swap(fresh) {
  const now = document.getElementById("feed");
  const next = fresh.getElementById("feed");
  const [counts, newCounts] = [document, fresh].map((page) => page.querySelector("nav[aria-label=Arenas]"));
  if (counts && newCounts && !counts.contains(document.activeElement)) counts.replaceChildren(...newCounts.childNodes);
  if (!next) return;
  if (!now) {
    if (!document.querySelector(".try :focus")) location.reload(); // the first battle
    return;
  }
  if (now.innerHTML === next.innerHTML) return;
  const focused = now.contains(document.activeElement) ? document.activeElement.id : "";
  now.replaceChildren(...next.childNodes);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
  const links = [...document.querySelectorAll(LINKS)];
  const here = links.indexOf(document.activeElement);
  const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.target.closest("input, textarea, select");
  if (!step || (here < 0 && !isLetter)) return;
  event.preventDefault();
  links[Math.max(here + step, 0)]?.focus();
});

if (live) live.closest("label").hidden = false;
if (location.protocol.startsWith("http")) { // not in a saved page
  follow();
  listen().catch(() => {}); // without a stream the list is fetched again after each pause
}
