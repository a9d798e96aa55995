// Keeps the list of battles up to date while the box "Live" is checked and the page is visible: the page is
// fetched again and its list swapped, so that there is one rendering, the server's. The arrow keys lead from
// battle to battle.
"use strict";

const EVERY_MS = 4000;
const LINKS = "#feed th[scope=row] > a";

const live = document.getElementById("live");

async function refresh() {
  if (document.hidden || (live && !live.checked)) return;
  try {
    const response = await fetch(location.href, { cache: "no-store" });
    if (response.ok) swap(new DOMParser().parseFromString(await response.text(), "text/html"));
  } catch {
    // The server is away; the next turn asks again.
  }
}

function swap(fresh) {
  const now = document.getElementById("feed");
  const next = fresh.getElementById("feed");
  if (!next) return;
  if (!now) {
    location.reload(); // the first battle
    return;
  }
  if (now.innerHTML === next.innerHTML) return;
  const focused = now.contains(document.activeElement) ? document.activeElement.id : "";
  now.replaceChildren(...next.childNodes);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...document.querySelectorAll(LINKS)];
  const here = links.indexOf(document.activeElement);
  if (!step || here < 0) return;
  event.preventDefault();
  links[here + step]?.focus();
});

if (live) live.closest("label").hidden = false;
if (location.protocol.startsWith("http")) setInterval(refresh, EVERY_MS); // not in a saved page
