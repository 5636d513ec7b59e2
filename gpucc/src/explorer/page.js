// Without a script the page is whole: every entry point below the other. With it: tabs, and lines that light up together.
(() => {
  const sections = [...document.querySelectorAll("section")];
  const tabs = [...document.querySelectorAll("nav a")];
  const show = (id) => {
    const found = sections.some((one) => one.id === id) ? id : sections[0]?.id;
    for (const one of sections) one.classList.toggle("on", one.id === found);
    for (const one of tabs) one.classList.toggle("on", one.hash === "#" + found);
  };
  if (sections.length > 1) {
    document.body.classList.add("tabs");
    addEventListener("hashchange", () => show(location.hash.slice(1)));
    show(location.hash.slice(1));
  }
  const same = (line) => line.closest("section").querySelectorAll(`p[data-line="${line.dataset.line}"]`);
  const light = (event, on) => {
    const line = event.target.closest?.("p[data-line]");
    if (line) for (const one of same(line)) one.classList.toggle("lit", on);
  };
  addEventListener("mouseover", (event) => light(event, true));
  addEventListener("mouseout", (event) => light(event, false));
  addEventListener("click", (event) => {
    const line = event.target.closest?.("p[data-line]");
    if (!line) return;
    const pane = line.closest(".pane");
    const other = [...same(line)].find((one) => one.closest(".pane") !== pane);
    if (!other) return;
    const scroller = other.closest(".pane");
    scroller.scrollTo({ top: other.offsetTop - scroller.offsetTop - scroller.clientHeight / 3, behavior: "smooth" });
  });
})();
