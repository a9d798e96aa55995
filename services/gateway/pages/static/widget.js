// Shows the explanation of a battle on the page of an arena:
//
//   <script src="https://GATEWAY/embed/widget.js" data-battle="ID" data-token="TOKEN" async></script>
//
// A frame appears behind the script, as high as its content. The script dispatches "nuggetstream:state" events,
// which bubble, with the battle and its state in `detail`.
"use strict";

(() => {
  const script = document.currentScript;
  const battle = script.dataset.battle;
  if (!battle) {
    console.error("nuggetstream: the script has no data-battle");
    return;
  }
  const path = battle.split("/").map(encodeURIComponent).join("/");
  const url = new URL(`battles/${path}`, script.src);
  if (script.dataset.token) url.searchParams.set("token", script.dataset.token);

  const frame = document.createElement("iframe");
  frame.src = url.href;
  frame.title = script.dataset.title || "Why one answer is better";
  frame.referrerPolicy = "no-referrer";
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox");
  Object.assign(frame.style, { border: "0", width: "100%", height: "12rem", colorScheme: "normal" });

  addEventListener("message", (event) => {
    const told = event.data && event.data.nuggetstream;
    if (event.source !== frame.contentWindow || event.origin !== url.origin || !told) return;
    if (Number.isFinite(told.height)) frame.style.height = `${Math.min(Math.max(told.height, 40), 20000)}px`;
    const detail = { battle: told.battle, state: told.state };
    script.dispatchEvent(new CustomEvent("nuggetstream:state", { bubbles: true, detail }));
  });
  script.after(frame);
})();
