// What a battle's page and its frame on another site have in common: how the page is fetched again, and how the
// events of the battle are followed. The pages and frames of a browser share a few event streams, since a browser
// opens six connections to a server without HTTP/2 and a stream holds one of them until the battle has ended.
"use strict";

const EVENTS = document.currentScript.dataset.events.split(" ");
const STREAMS = 3;
const LOOK_MS = 10000; // no event tells that a stage tries again, and a proxy may hold events back

// Makes a function that fetches a page and gives its document to `show`. A call while a page is being fetched
// has it fetched once more; the promise is kept when the newest page is shown.
function refresher(url, show) {
  let fetching = null;
  let again = false;
  async function fetchPage() {
    do {
      again = false;
      try {
        const response = await fetch(url, { cache: "no-store" });
        if (response.ok) show(new DOMParser().parseFromString(await response.text(), "text/html"));
      } catch {
        // The server is away; the next event or turn asks again.
      }
    } while (again);
    fetching = null;
  }
  return () => {
    again = fetching !== null;
    fetching ??= fetchPage();
    return fetching;
  };
}

// Follows events until the battle has ended or there is no stream.
function stream(url, hear, refresh) {
  return new Promise((resolve) => {
    const source = new EventSource(url);
    const looking = setInterval(refresh, LOOK_MS);
    let opened = false;
    const end = (last) => {
      source.close();
      clearInterval(looking);
      resolve(last);
    };
    for (const name of EVENTS) {
      source.addEventListener(name, (event) => hear(name, Number(event.lastEventId)));
    }
    source.addEventListener("ended", () => end(refresh()));
    source.addEventListener("open", () => (opened = true));
    source.addEventListener("error", () => {
      if (!opened || source.readyState === EventSource.CLOSED) end(); // otherwise it connects again by itself
    });
  });
}

// Follows events if a stream is free. Browsers have locks on pages that came over HTTPS or from this computer.
async function streamInTurn(url, hear, refresh) {
  if (!navigator.locks) return;
  for (let number = 0; number < STREAMS; number += 1) {
    const use = async (lock) => {
      if (lock) await stream(url, hear, refresh);
      return lock !== null;
    };
    try {
      if (await navigator.locks.request(`nuggetstream-stream-${number}`, { ifAvailable: true }, use)) return;
    } catch {
      return;
    }
  }
}
