// Without a script the page is whole: the source, then every entry point below the other. With it: tabs, machines beside each
// other, lines that light up together, a line that stays lit by a click, colours of words, a search, and keys.
(() => {
  const all = (root, what) => [...root.querySelectorAll(what)];
  const sections = all(document, "section");
  const tabs = all(document, "nav a");
  const panes = all(document, ".pane");
  const source = document.querySelector("main > .pane");
  const main = document.querySelector("main");
  const columns = all(main, ":scope > div[data-machine]");
  const choices = all(document, ".machines button");
  document.body.classList.add("scripted");

  // Lines by number: of the source, and of what is shown.
  let lines = new Map();
  let painted = false;
  const open = () => sections.filter((one) => one.classList.contains("on") && !one.parentElement.hidden);
  const add = (line) => {
    const number = line.dataset.line;
    if (!lines.has(number)) lines.set(number, []);
    lines.get(number).push(line);
  };
  const gather = () => {
    lines = new Map();
    // What a line became on each machine: instructions and cycles.
    const made = open().map((section) => {
      const counts = new Map();
      for (const line of all(section, "p[data-line]")) {
        add(line);
        // A group of several slots counts once.
        if (!line.closest(".made") || !line.querySelector("s").textContent) continue;
        const count = counts.get(line.dataset.line) ?? { instructions: 0, cycles: 0 };
        count.instructions += 1;
        count.cycles += Number(line.querySelector("i")?.textContent ?? 0);
        counts.set(line.dataset.line, count);
      }
      return counts;
    });
    for (const line of source ? all(source, "p[data-line]") : []) {
      const linked = lines.has(line.dataset.line);
      line.classList.toggle("linked", linked);
      line.classList.remove("lit", "pinned");
      const counts = made.map((counts) => counts.get(line.dataset.line));
      const count = line.querySelector("em");
      count.textContent = counts.some(Boolean) ? counts.map((one) => one?.instructions ?? 0).join(" ") : "";
      count.title = counts
        .map((one) => `${one?.instructions ?? 0} instructions, ${Number((one?.cycles ?? 0).toFixed(2))} cycles`)
        .join("; ");
      if (linked) add(line);
    }
    main.style.setProperty("--columns", columns.filter((one) => !one.hidden).length + (source ? 1 : 0));
    main.style.setProperty("--counts", made.length || 1);
  };
  // What is folded is text, with the line of the source of each of its lines. It becomes lines when it is unfolded.
  const unfold = (pane) => {
    const text = pane.querySelector("pre");
    if (!text) return;
    const places = text.dataset.places.split(" ");
    const code = document.createElement("div");
    code.className = "code";
    text.textContent.split("\n", places.length).forEach((words, at) => {
      if (at % 50 === 0) code.append(document.createElement("div"));
      const line = document.createElement("p");
      const number = document.createElement("s");
      number.textContent = at + 1;
      line.append(number, words);
      code.lastChild.append(line);
      if (places[at] === "0") return;
      line.dataset.line = places[at];
      line.style.setProperty("--hue", (places[at] * 137) % 360);
      add(line);
      if (source?.querySelector(`.pinned[data-line="${places[at]}"]`)) line.classList.add("pinned");
    });
    text.replaceWith(code);
    for (const block of code.children) seen?.observe(block);
  };
  for (const fold of all(document, "details:has(> .ir)")) {
    fold.addEventListener("toggle", () => fold.open && painted && unfold(fold.querySelector(".pane")));
  }
  const show = (id) => {
    const entry = (sections.find((one) => one.dataset.entry === id) ?? sections[0]).dataset.entry;
    for (const one of sections) one.classList.toggle("on", one.dataset.entry === entry);
    for (const one of tabs) {
      const here = one.hash === "#" + entry;
      one.classList.toggle("on", here);
      if (here) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    }
    if (painted) gather();
  };
  if (tabs.length > 1) {
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
  const place = () => {
    for (const one of choices) columns[one.dataset.machine].hidden = one.ariaPressed !== "true";
  };
  for (const choice of choices) {
    choice.addEventListener("click", () => {
      choice.ariaPressed = choice.ariaPressed !== "true";
      place();
      gather();
    });
  }
  place();
  if (sections.length) show(location.hash.slice(1));
  // What a page is, is painted before its lines are counted.
  requestAnimationFrame(() =>
    setTimeout(() => {
      painted = true;
      gather();
      colour();
      for (const pane of all(document, "details[open] > .ir")) unfold(pane);
    }),
  );

  const same = (line) => lines.get(line.dataset.line) ?? [];
  const linked = "p.linked, :is(.made, .ir) p[data-line]";
  const of = (event) => event.target.closest?.(linked);
  const light = (event, on) => {
    const line = of(event);
    if (line) for (const one of same(line)) one.classList.toggle("lit", on);
  };
  addEventListener("mouseover", (event) => light(event, true));
  addEventListener("mouseout", (event) => light(event, false));

  const into = (line) => {
    const pane = line.closest(".pane");
    const below = line.getBoundingClientRect().top - pane.getBoundingClientRect().top;
    pane.scrollTo({ top: pane.scrollTop + below - pane.clientHeight / 3 });
  };
  const pin = (line) => {
    const on = !line.classList.contains("pinned");
    for (const one of all(document, ".pinned")) one.classList.remove("pinned");
    if (!on) return;
    const seen = new Set([line.closest(".pane")]);
    for (const one of same(line)) {
      one.classList.add("pinned");
      const pane = one.closest(".pane");
      if (!seen.has(pane)) into(one);
      seen.add(pane);
    }
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
      } else if (event.key === "Enter" && rows[at]?.matches(linked)) {
        pin(rows[at]);
        event.preventDefault();
      }
    });
    pane.addEventListener("blur", () => all(pane, ".at").forEach((one) => one.classList.remove("at")));
  }

  // Colours of words, of blocks of lines that come into view. They are no elements: a page of thousands of lines stays light.
  const kinds = {
    comment: /\/\/.*|\/\*.*?(?:\*\/|$)/y,
    remark: /;.*/y,
    name: /@[a-z_]+|#[a-z]+/y,
    number: /\b(?:0x[\da-f]+|\d+(?:\.\d*)?(?:e[+-]?\d+)?[iufh]?)\b/iy,
    word: /\b(?:fn|let|var|const|struct|if|else|for|while|loop|return|break|continue|continuing|switch|case|default|discard|override|enable|true|false|uniform|storage|private|workgroup|in|out|inout|layout|void|attribute|varying|precision|flat)\b/y,
    type: /\b(?:[fiu]32|f16|bool|float|u?int|u?vec[234]\w*|mat[234]\w*|array|atomic|ptr|texture_\w+|sampler\w*)\b/y,
  };
  let seen;
  const colour = () => {
    if (!globalThis.CSS?.highlights || !globalThis.Highlight) return;
    for (const kind of Object.keys(kinds)) CSS.highlights.set(kind, new Highlight());
    const paint = (line, kept) => {
      const text = line.lastChild;
      if (text?.nodeType !== Node.TEXT_NODE) return;
      const end = text.data.length;
      for (let at = 0; at < end; ) {
        const found = kept.find((kind) => {
          kinds[kind].lastIndex = at;
          return kinds[kind].test(text.data);
        });
        // What begins inside of a name is no word.
        const next = found ? kinds[found].lastIndex : at + (/[\w.]+|[^]/y.exec(text.data.slice(at))?.[0].length ?? 1);
        if (found) {
          const range = new Range();
          range.setStart(text, at);
          range.setEnd(text, next);
          CSS.highlights.get(found).add(range);
        }
        at = next;
      }
    };
    const ofSource = Object.keys(kinds).filter((kind) => kind !== "remark");
    seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        seen.unobserve(target);
        const kept = target.closest(".source") ? ofSource : ["remark", "number"];
        for (const line of target.children) paint(line, kept);
      }
    });
    for (const block of all(document, ".code > div")) seen.observe(block);
  };

  const find = document.querySelector("header input");
  find.addEventListener("input", () => {
    for (const one of all(document, ".found")) one.classList.remove("found");
    const text = find.value.toLowerCase();
    if (!text) return;
    for (const pane of [source, ...open().flatMap((section) => all(section, ".pane"))]) {
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
