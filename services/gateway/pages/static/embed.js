// A battle in a frame: each event fetches the page again and swaps its content, so that there is one rendering,
// the server's. Where no event stream is free, the page is fetched every 1.5 seconds instead. The page around
// the frame is told how high the content is.
"use strict";

const EVERY_MS = 1500;
const MOST_TURNS = 400; // ten minutes

const main = document.getElementById("main");
const refresh = refresher(location.href, swap);

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

function hear(name, number) {
  if (number > Number(main.dataset.seen)) refresh();
}

// Also after the end of the battle, until the vote that was just cast is stored: no stream tells that.
async function poll() {
  for (let turn = 0; turn < MOST_TURNS && !isSettled(); turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    if (!document.hidden) await refresh();
  }
}

async function follow() {
  if (main.dataset.state === "running") await streamInTurn(main.dataset.events, hear, refresh);
  await poll();
}

new ResizeObserver(tell).observe(document.body);
follow();
