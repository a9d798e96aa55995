"use strict";
(() => {
  const looks = {
    light: { ink: "#1d2327", faint: "#566068", grid: "#e6e4de", card: "#ffffff" },
    dark: { ink: "#e7eaeb", faint: "#a4afb5", grid: "#333c40", card: "#1c2225" },
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const family = getComputedStyle(document.documentElement).fontFamily;
  const config = {
    responsive: true,
    displaylogo: false,
    modeBarButtons: [["toImage"]],
    toImageButtonOptions: { format: "svg" },
  };

  function styled(layout, look, width) {
    const size = width < 480 ? 11 : 13;
    const axis = (own) => ({
      gridcolor: look.grid, linecolor: look.grid, zerolinecolor: look.faint, ...own,
      tickfont: { color: look.ink, size },
      title: own && own.title && { ...own.title, font: { color: look.faint, size } },
    });
    return {
      ...layout,
      font: { family, color: look.ink, size },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      xaxis: axis(layout.xaxis),
      yaxis: axis(layout.yaxis),
      legend: { ...layout.legend, font: { color: look.ink, size } },
      hoverlabel: { ...layout.hoverlabel, bgcolor: look.card, bordercolor: look.faint, font: { family, color: look.ink } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: look.faint, activecolor: look.ink },
    };
  }

  // The library that draws is in the page as gzip in base64. Its policy allows that one script by its hash.
  async function unpack() {
    const packed = atob(document.getElementById("plotly").textContent);
    const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const library = document.createElement("script");
    library.textContent = await new Response(unpacked).text();
    document.head.append(library);
  }

  // The label of the plot says in words what its drawing shows; only the buttons beside it are for everybody.
  async function draw(plot, look) {
    await unpacking;
    const spec = JSON.parse(plot.nextElementSibling.textContent);
    await Plotly.react(plot, spec.data, styled(spec.layout, look, plot.clientWidth), config);
    for (const drawing of plot.querySelectorAll("svg.main-svg")) drawing.setAttribute("aria-hidden", "true");
  }

  function drawAll(look) {
    const visible = [...document.querySelectorAll(".set:not([hidden]) .plot")];
    return Promise.all(visible.map((plot) => draw(plot, look)));
  }

  const current = () => (dark.matches ? looks.dark : looks.light);

  for (const select of document.querySelectorAll("select[data-of]")) {
    select.value = "0";
    select.addEventListener("change", () => {
      for (const option of select.options) {
        const set = document.getElementById(`${select.dataset.of}-${option.value}`);
        set.hidden = option.value !== select.value;
        if (!set.hidden) set.querySelectorAll(".plot").forEach((plot) => draw(plot, current()));
      }
    });
  }

  const unpacking = unpack();

  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")];
    unfolded.forEach((details) => { details.open = true; });
    drawAll(looks.light);
  });
  addEventListener("afterprint", () => {
    unfolded.forEach((details) => { details.open = false; });
    drawAll(current());
  });
  dark.addEventListener("change", () => drawAll(current()));
  unpacking.then(() => drawAll(current())).then(() => { document.documentElement.dataset.drawn = "yes"; });
})();
