// Without a script the page is whole: the source, then every entry point below the other. With it: tabs, lines that light up
// together, a line that stays lit by a click, a search, and keys.
(() => {
  const all = (root, what) => [...root.querySelectorAll(what)];
  const sections = all(document, "section");
  const tabs = all(document, "nav a");
  const panes = all(document, ".pane");
  const source = document.querySelector("main > .pane");
  document.body.classList.add("scripted");

  // Lines by number: of the source, and of the entry point that is shown.
  let lines = new Map();
  const open = () => sections.find((one) => one.classList.contains("on")) ?? sections[0];
  const gather = () => {
    lines = new Map();
    const made = new Map();
    const add = (line) => {
      const number = line.dataset.line;
      if (!lines.has(number)) lines.set(number, []);
      lines.get(number).push(line);
    };
    for (const line of all(open(), "p[data-line]")) {
      add(line);
      // A group of several slots counts once.
      const first = line.querySelector("s").textContent ? 1 : 0;
      made.set(line.dataset.line, (made.get(line.dataset.line) ?? 0) + first);
    }
    for (const line of source ? all(source, "p[data-line]") : []) {
      const count = made.get(line.dataset.line);
      line.classList.toggle("linked", count !== undefined);
      line.classList.remove("lit", "pinned");
      line.querySelector("em").textContent = count ?? "";
      if (count !== undefined) add(line);
    }
  };
  const show = (id) => {
    const found = sections.find((one) => one.id === id) ?? sections[0];
    for (const one of sections) one.classList.toggle("on", one === found);
    for (const one of tabs) {
      const here = one.hash === "#" + found.id;
      one.classList.toggle("on", here);
      if (here) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    }
    gather();
  };
  if (sections.length > 1) {
    document.body.classList.add("tabs");
    addEventListener("hashchange", () => show(location.hash.slice(1)));
    // A tab changes what is shown and not where the page is scrolled to.
    for (const tab of tabs) {
      tab.addEventListener("click", (event) => {
        event.preventDefault();
        history.replaceState(null, "", tab.hash);
        show(tab.hash.slice(1));
      });
    }
  }
  if (sections.length) show(location.hash.slice(1));

  const same = (line) => lines.get(line.dataset.line) ?? [];
  const of = (event) => event.target.closest?.("p.linked");
  const light = (event, on) => {
    const line = of(event);
    if (line) for (const one of same(line)) one.classList.toggle("lit", on);
  };
  addEventListener("mouseover", (event) => light(event, true));
  addEventListener("mouseout", (event) => light(event, false));

  const into = (line) => {
    const pane = line.closest(".pane");
    pane.scrollTo({ top: line.offsetTop - pane.offsetTop - pane.clientHeight / 3 });
  };
  const pin = (line) => {
    const on = !line.classList.contains("pinned");
    for (const one of all(document, ".pinned")) one.classList.remove("pinned");
    if (!on) return;
    for (const one of same(line)) one.classList.add("pinned");
    const pane = line.closest(".pane");
    const other = same(line).find((one) => one.closest(".pane") !== pane);
    if (other) into(other);
  };
  addEventListener("click", (event) => {
    const line = of(event);
    if (line && getSelection().isCollapsed) pin(line);
  });

  // In a pane the arrows go from line to line, Enter keeps a line lit.
  for (const pane of panes) {
    let at = -1;
    pane.addEventListener("keydown", (event) => {
      const rows = all(pane, ".code p");
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
      if (step) {
        rows[at]?.classList.remove("at");
        for (const one of all(document, ".lit")) one.classList.remove("lit");
        at = Math.max(0, Math.min(rows.length - 1, at + step));
        rows[at].classList.add("at");
        for (const one of same(rows[at])) one.classList.add("lit");
        into(rows[at]);
        event.preventDefault();
      } else if (event.key === "Enter" && rows[at]?.matches(".linked")) {
        pin(rows[at]);
        event.preventDefault();
      }
    });
    pane.addEventListener("blur", () => all(pane, ".at").forEach((one) => one.classList.remove("at")));
  }

  const find = document.querySelector("header input");
  find.addEventListener("input", () => {
    for (const one of all(document, ".found")) one.classList.remove("found");
    const text = find.value.toLowerCase();
    if (!text) return;
    for (const pane of [source, ...all(open(), ".pane")]) {
      const hits = pane ? all(pane, ".code p").filter((one) => one.textContent.toLowerCase().includes(text)) : [];
      for (const one of hits) one.classList.add("found");
      if (hits.length) into(hits[0]);
    }
  });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== find) {
      find.focus();
      event.preventDefault();
    } else if (event.key === "Escape") {
      find.value = "";
      find.dispatchEvent(new Event("input"));
      find.blur();
    }
  });
})();
