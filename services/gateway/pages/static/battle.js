// The nuggets beside the answers and their marks in the answers point at each other: what the pointer or the
// focus is on is lit in both places. A link into a closed part of the page opens it.
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
    if (lit && chosen.tagName === "MARK" && element.closest(".rail ol")) show(element);
  }
}

// Scrolls the list of nuggets alone; the page stays where it is.
function show(item) {
  const list = item.closest("ol");
  const [box, frame] = [item.getBoundingClientRect(), list.getBoundingClientRect()];
  if (box.top < frame.top) list.scrollTop += box.top - frame.top;
  else if (box.bottom > frame.bottom) list.scrollTop += box.bottom - frame.bottom;
}

function reveal() {
  const target = document.querySelector(":target");
  const closed = target?.closest("details:not([open])");
  if (!closed) return;
  closed.open = true;
  target.scrollIntoView();
}

document.addEventListener("pointerover", light);
document.addEventListener("focusin", light);
addEventListener("hashchange", reveal);
reveal();
