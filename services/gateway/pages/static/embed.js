// A battle in a frame: while it runs, the page is fetched again and its content swapped, so that there is one
// rendering, the server's. The page around the frame is told how high the content is.
"use strict";

const EVERY_MS = 1500;
const MOST_TURNS = 400; // ten minutes

const main = document.getElementById("main");

function tell() {
  const { battle, state } = main.dataset;
  const height = Math.ceil(document.body.getBoundingClientRect().height);
  parent.postMessage({ nuggetstream: { battle, state, height } }, "*");
}

function swap(fresh) {
  const next = fresh.getElementById("main");
  if (!next || main.innerHTML === next.innerHTML) return;
  for (const details of main.querySelectorAll("details[id]")) {
    const same = next.querySelector("#" + CSS.escape(details.id));
    if (same) same.open = details.open;
  }
  const focused = main.contains(document.activeElement) ? document.activeElement.value : null;
  main.replaceChildren(...next.childNodes);
  Object.assign(main.dataset, next.dataset);
  if (focused) main.querySelector(`button[value="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  tell();
}

async function follow() {
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    if (main.dataset.state !== "running" && main.dataset.pending === "no") return;
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    if (document.hidden) continue;
    try {
      const response = await fetch(location.href, { cache: "no-store" });
      if (response.ok) swap(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch {
      // The server is away; the next turn asks again.
    }
  }
}

new ResizeObserver(tell).observe(document.body);
follow();
