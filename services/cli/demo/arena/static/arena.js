// One line says how far the explanation is, from the events of the battle (docs/events.md). The widget shows the
// explanation itself.
"use strict";

const line = document.getElementById("progress");

const FAILURES = {
  scraper: "The sources could not be read.",
  indexer: "The sources could not be searched.",
  retriever: "The sources could not be searched.",
  nuggetizer: "No facts could be found.",
  assigner: "The answers could not be checked for the facts.",
  judge: "No judge could compare the answers.",
};
const failures = new Set();

const WORDS = {
  submitted: () => "The sources of both answers are being read.",
  scraped: ({ pages }) => `${pages.filter((page) => page.state !== "rejected").length} of ${pages.length} sources were read.`,
  nuggetized: ({ nuggets }) => `${nuggets.length} facts were found. Both answers are being checked for them.`,
  assigned: () => "Both answers were checked for each fact.",
  judged: () => "A judge has compared the answers.",
  failed: ({ stage }) => [...failures.add(FAILURES[stage] ?? "A part of the explanation failed.")].join(" "),
  ended: () => (failures.size ? `${[...failures].join(" ")} The rest is complete.` : "The explanation is complete."),
};

const source = new EventSource(line.dataset.events);
for (const [kind, words] of Object.entries(WORDS)) {
  source.addEventListener(kind, (event) => {
    line.textContent = words(JSON.parse(event.data));
    if (kind === "ended") source.close();
  });
}
