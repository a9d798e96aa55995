// The nuggets beside the answers and their marks in the answers point at each other: what the pointer or the
// focus is on is lit in both places. A link into a closed part of the page opens it, and one to a nugget that is
// filtered out shows all. The keys j and k lead from nugget to nugget.
"use strict";

const NUGGETS = "[data-nuggets]";

function numbers(element) {
  return element.dataset.nuggets.split(" ");
}

function light(event) {
  const chosen = event.target instanceof Element ? event.target.closest(NUGGETS) : null;
  const wanted = chosen ? numbers(chosen) : [];
  for (const element of document.querySelectorAll(NUGGETS)) {
    const lit = numbers(element).some((number) => wanted.includes(number));
    element.classList.toggle("lit", lit);
    if (lit && chosen.tagName === "MARK" && element.closest(".rail .list")) show(element);
  }
}

// Scrolls the list of nuggets alone; the page stays where it is.
function show(item) {
  const list = item.closest(".list");
  const [box, frame] = [item.getBoundingClientRect(), list.getBoundingClientRect()];
  if (box.top < frame.top) list.scrollTop += box.top - frame.top;
  else if (box.bottom > frame.bottom) list.scrollTop += box.bottom - frame.bottom;
}

function reveal() {
  const target = document.querySelector(":target");
  if (target?.matches(".rail li")) {
    if (!target.checkVisibility()) document.getElementById("show-all").checked = true;
    target.querySelector("details").open = true;
    target.scrollIntoView({ block: "nearest" });
  }
  const closed = target?.closest("details:not([open])");
  if (!closed) return;
  closed.open = true;
  target.scrollIntoView();
}

document.addEventListener("keydown", (event) => {
  const step = { j: 1, k: -1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=radio]), textarea, select")) return;
  const nuggets = [...document.querySelectorAll(".rail summary")].filter((each) => each.checkVisibility());
  const here = nuggets.findIndex((each) => each.closest("li").contains(document.activeElement));
  nuggets.at(here < 0 ? (step > 0 ? 0 : -1) : Math.min(Math.max(here + step, 0), nuggets.length - 1))?.focus();
});
document.addEventListener("pointerover", light);
document.addEventListener("focusin", light);
addEventListener("hashchange", reveal);
reveal();
