// Looks at the explorer in a browser: pictures of pages in light, dark and narrow, faults that axe-core finds, keys, and the time
// to the first paint.
//
//     node cli/tests/explorer/run.mjs [FOLDER]
//
// Needs chromium, and npm with a network for axe-core; it says what it leaves out. Pictures stay in FOLDER (target/explorer).
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = realpathSync(join(dirname(fileURLToPath(import.meta.url)), "../../.."));
const folder = resolve(process.argv[2] ?? join(root, "target/explorer"));
const gpucc = join(root, "target/release/gpucc");
mkdirSync(folder, { recursive: true });

// A shader of some 3,000 instructions: a long chain that nothing folds.
const steps = Array.from({ length: 800 }, (_, k) => `    x = x * x.yzwx + vec4f(a.x, x.y, a.z, ${k}.5);\n`);
const large = join(folder, "large.wgsl");
writeFileSync(
  large,
  `@fragment fn main(@location(0) a: vec4f) -> @location(0) vec4f {\n    var x = a;\n${steps.join("")}    return x;\n}\n`,
);
const sample = (name) => join(root, "samples", name);
const html = (name) => join(folder, `${name}.html`);
const run = (...args) => execFileSync(gpucc, args, { stdio: ["ignore", "ignore", "inherit"] });
run(sample("phong.wgsl"), "--target", "r700", "--emit", `html=${html("one")}`);
run("compare", sample("blur.wgsl"), "--html", html("beside"));
run(sample("collatz.wgsl"), "--target", "g45", "--emit", `html=${html("compute")}`);
run(large, "--target", "r700", "--emit", `html=${html("large")}`);

const axe = join(folder, "node_modules/axe-core/axe.min.js");
if (!existsSync(axe)) {
  try {
    execFileSync("npm", ["install", "--silent", "--no-save", "--prefix", folder, "axe-core"], { stdio: "ignore" });
  } catch {
    console.log("skipped: axe-core, without npm or a network");
  }
}

// The browser speaks over two pipes: messages of JSON, each with a zero behind it.
const profile = join(folder, "profile");
rmSync(profile, { recursive: true, force: true });
const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"];
const browser = spawn("chromium", [...flags, `--user-data-dir=${profile}`, "--remote-debugging-pipe", "about:blank"], {
  stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
});
browser.on("error", () => {
  console.log("skipped: chromium is not installed");
  process.exit(0);
});
const [, , , out, back] = browser.stdio;
const waiting = new Map();
const listeners = [];
let last = 0;
let unread = "";
back.setEncoding("utf8").on("data", (chunk) => {
  const messages = (unread + chunk).split("\0");
  unread = messages.pop();
  for (const message of messages.map((text) => JSON.parse(text))) {
    if (message.id) {
      const { done, failed } = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) failed(new Error(message.error.message));
      else done(message.result);
    } else {
      for (const listener of listeners) listener(message);
    }
  }
});
const ask = (method, params = {}, sessionId = undefined) =>
  new Promise((done, failed) => {
    last += 1;
    waiting.set(last, { done, failed });
    out.write(JSON.stringify({ id: last, method, params, sessionId }) + "\0");
  });

const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
const { sessionId } = await ask("Target.attachToTarget", { targetId, flatten: true });
const page = (method, params) => ask(method, params, sessionId);
const evaluate = async (expression) => {
  const told = await page("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if (told.exceptionDetails) throw new Error(told.exceptionDetails.exception?.description ?? "the page throws");
  return told.result.value;
};
await page("Page.enable");
const open = async (name, width, scheme) => {
  await page("Emulation.setDeviceMetricsOverride", { width, height: 1000, deviceScaleFactor: 1, mobile: false });
  await page("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  const loaded = new Promise((done) => listeners.push((message) => message.method === "Page.loadEventFired" && done()));
  await page("Page.navigate", { url: `file://${html(name)}` });
  await loaded;
  listeners.length = 0;
  // Two frames, and what the page does behind the first one.
  const frame = "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))";
  await evaluate(`new Promise((done) => ${frame})`);
};
const firstPaint = () =>
  evaluate(`new Promise((done) => new PerformanceObserver((list) => {
    const one = list.getEntriesByName("first-contentful-paint")[0];
    if (one) done(Math.round(one.startTime));
  }).observe({ type: "paint", buffered: true }))`);
const picture = async (name) => {
  const { data } = await page("Page.captureScreenshot");
  writeFileSync(join(folder, `${name}.png`), Buffer.from(data, "base64"));
};

const count = (what) => evaluate(`document.querySelectorAll(${JSON.stringify(what)}).length`);

let faults = 0;
const expect = (what, right) => {
  if (!right) {
    console.log(`   FAULT: ${what}`);
    faults += 1;
  }
};
for (const name of ["one", "beside", "compute", "large"]) {
  for (const [kind, width, scheme] of [["light", 1500, "light"], ["dark", 1500, "dark"], ["narrow", 500, "light"]]) {
    await open(name, width, scheme);
    const paint = await firstPaint();
    await picture(`${name}-${kind}`);
    const wide = await evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(`the page is ${wide} pixels wider than the window`, wide <= 0);
    let violations = [];
    // The large page has the parts of the others, only more of them: it is there for the paint.
    if (existsSync(axe) && name !== "large") {
      await evaluate(readFileSync(axe, "utf8") + "; 0");
      violations = await evaluate(`axe.run().then((all) => all.violations.map((one) =>
        one.id + ", " + one.nodes.length + " times, as in " + one.nodes[0].html.slice(0, 200)))`);
    }
    console.log(`${name} ${kind}: first paint after ${paint} ms, ${violations.length} violations`);
    for (const one of violations) expect(one, false);
  }
}

// A large page is there at once: no later than 100 ms after a small one, which shows what the browser itself takes. The best of
// some: others use the machine too.
const best = async (name) => {
  const paints = [];
  for (let k = 0; k < 6; k++) {
    await open(name, 1500, "light");
    paints.push(await firstPaint());
  }
  return Math.min(...paints);
};
const [small, big] = [await best("compute"), await best("large")];
const lines = await count(".code p");
console.log(`large: ${lines} lines, first paint after ${big} ms, of a small page after ${small} ms`);
expect("the first paint of the large page is more than 100 ms later than that of a small one", big - small <= 100);

// Keys and clicks.
const key = async (name) => {
  for (const type of ["keyDown", "keyUp"]) await page("Input.dispatchKeyEvent", { type, key: name, code: name });
};
await open("beside", 1500, "light");
expect("two machines stand beside each other", (await count("main > div[data-machine]:not([hidden])")) === 2);
await evaluate(`document.querySelectorAll(".machines button")[2].click()`);
expect("a third one joins them", (await count("main > div[data-machine]:not([hidden])")) === 3);
await evaluate(`document.querySelector(".source").focus()`);
for (let k = 0; k < 40 && (await count(".source p.at.linked")) === 0; k++) await key("ArrowDown");
await key("Enter");
expect("Enter keeps a line of the source lit", (await count(".source .pinned")) > 0);
expect("and what each machine made of it", (await count("section.on .made .pinned")) > 2);
await evaluate(`for (const one of document.querySelectorAll("section.on details:has(> .ir)")) one.open = true`);
await evaluate("new Promise((done) => setTimeout(done, 100))");
expect("and its SSA, when it is unfolded", (await count("section.on .ir .pinned")) > 0);
await picture("beside-pinned");
await evaluate(`document.querySelector("header input").focus()`);
await page("Input.insertText", { text: "sample" });
expect("a search finds lines", (await count(".found")) > 0);
await key("Escape");
expect("Escape ends it", (await count(".found")) === 0);

await ask("Browser.close");
console.log(faults === 0 ? `no faults; pictures are in ${folder}` : `${faults} faults`);
process.exit(faults === 0 ? 0 : 1);
