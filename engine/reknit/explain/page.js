"use strict";
// Everything that is shown is put in as text, never as markup: a stream is somebody else's input.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const DRIVING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const PLAIN = "\n\t\u200c\u200d";

function el(tag, kind, ...inner) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  made.append(...inner.flat().filter((one) => one !== null && one !== undefined));
  return made;
}

// Characters that drive a terminal, hide or reorder text are spelt out; lone halves of pairs, too.
function visible(text) {
  if (!DRIVING.test(text)) return [text];
  const parts = [];
  let plain = "";
  for (const one of text) {
    if (PLAIN.includes(one) || !DRIVING.test(one)) { plain += one; continue; }
    if (plain) parts.push(plain);
    plain = "";
    const code = one.codePointAt(0);
    const spelt = code < 256 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0");
    parts.push(el("span", "spelt", spelt));
  }
  if (plain) parts.push(plain);
  return parts;
}

function json(value) {
  return JSON.stringify(value, null, 2);
}

// -- the steps: one for each event, and one for each item of the body without any -------------------------------------

const steps = [];
data.passages.forEach((passage, number) => {
  const own = passage.events.length ? passage.events : [null];
  own.forEach((event, place) => steps.push({ passage: number, event, place }));
});
const firstStep = data.passages.map((_, number) => steps.findIndex((step) => step.passage === number));
let here = 0;

function words(step) {
  const passage = data.passages[step.passage];
  const events = (list) => list.flatMap((one) => [
    one.event, one.rule, one.map || "", JSON.stringify(one.fields), ...one.notes.map((note) => note.reason), ...events(one.ended),
  ]);
  return [passage.shown, passage.kind, ...passage.notes.map((note) => note.reason), ...events(step.event ? [step.event] : [])]
    .join("\n").toLowerCase();
}

// -- the message so far ------------------------------------------------------------------------------------------------

function messageAt(last) {
  const message = { blocks: [], notes: [], usage: null, stop: null, complete: false };
  const touched = new Set();
  const fresh = new Map();
  for (let number = 0; number <= last; number++) {
    const step = steps[number];
    const passage = data.passages[step.passage];
    const now = number === last;
    if (step.place === 0) apply(message, passage.updates, now ? touched : null, now ? fresh : null);
    const event = step.event;
    if (!event || event.choice !== data.choice) continue;
    apply(message, event.updates, now ? touched : null, now ? fresh : null);
    message.stop = event.stop_reason;
    message.complete = event.complete;
  }
  return { message, touched, fresh };
}

function apply(message, updates, touched, fresh) {
  for (const one of updates) {
    if (one.type === "note") { message.notes.push(one.note); continue; }
    if (one.type === "usage") { message.usage = one.usage; continue; }
    if (one.block === undefined) continue;
    if (touched) touched.add(one.block);
    if (one.type === "block_opened") {
      message.blocks[one.block] = { kind: one.kind, open: true, id: one.id, name: one.name, text: {}, done: null };
      continue;
    }
    const block = message.blocks[one.block];
    if (!block) continue;
    if (one.type === "delta") {
      const held = block.text[one.field] || "";
      if (fresh && !fresh.has(one.block + one.field)) fresh.set(one.block + one.field, held.length);
      block.text[one.field] = held + one.text;
    } else if (one.type === "block_changed") {
      if (one.field === "id" || one.field === "name") block[one.field] = one.value;
      else block.text[one.field] = one.value;
      if (block.done) block.done = { ...block.done, value: { ...block.done.value, [one.field]: one.value } };
    } else if (one.type === "block_archived") {
      block.open = false;
      block.done = one;
    } else if (one.type === "block_reopened") {
      block.open = true;
      block.done = null;
    } else if (one.type === "block_withdrawn") {
      block.gone = true;
    }
  }
}

function withFresh(text, from) {
  if (from === undefined || from >= text.length) return visible(text);
  return [...visible(text.slice(0, from)), el("span", "fresh", ...visible(text.slice(from)))];
}

function showBlock(block, number, touched, fresh) {
  const value = block.done ? block.done.value : null;
  const kind = value ? value.type : block.kind;
  const box = el("div", "block " + (kind === "thinking" ? "thinking" : "") + (block.open ? " open" : "") + (touched.has(number) ? " touched" : ""));
  const head = el("div", "head");
  box.append(head);
  const call = kind === "tool_use";
  const name = call ? (value ? value.name : block.name) || "(no name)" : kind;
  head.append(el("b", "", ...visible((call ? "call " : "") + name)));
  const ident = call ? (value ? value.id : block.id) : null;
  if (ident) head.append(el("span", "mono", ...visible(ident)));
  head.append(el("span", "tag", block.open ? "open" : "archived"));
  if (block.done && call) {
    head.append(el("span", "tag", "seal " + block.done.seal));
    if (block.done.grade) head.append(el("span", "tag", "grade " + block.done.grade));
    head.append(el("span", "tag", block.done.safety));
    head.append(value.invalid ? el("span", "tag bad", "invalid: " + value.invalid) : el("span", "tag good", block.done.executable ? "executable" : "not executable"));
  }
  if (call) {
    const text = block.done && !value.invalid ? json(value.input) : block.text.input || "";
    const from = block.done ? undefined : fresh.get(number + "input");
    if (text) box.append(el("div", "text mono", ...withFresh(text, from)));
  } else if (kind === "text" || kind === "thinking") {
    const text = value ? value[kind] : block.text[kind] || "";
    box.append(el("div", "text", ...withFresh(text, fresh.get(number + kind))));
  } else if (value) {
    const { type, ...rest } = value;
    box.append(el("div", "text mono", ...visible(json(rest))));
  } else if (block.text.input) {
    box.append(el("div", "text mono", ...visible(block.text.input)));
  }
  const signature = (value && value.signature) || block.text.signature;
  if (signature) box.append(el("div", "place", "signed, " + signature.length + " characters"));
  return box;
}

function showMessage() {
  const { message, touched, fresh } = messageAt(here);
  const parts = [];
  message.blocks.forEach((block, number) => { if (!block.gone) parts.push(showBlock(block, number, touched, fresh)); });
  if (!parts.length) parts.push(el("p", "quiet", "nothing yet"));
  const facts = el("dl", "fields");
  const fact = (name, said, kind) => facts.append(el("dt", "", name), el("dd", kind || "", ...visible(said)));
  fact("stop", message.stop === null ? "not said yet" : message.stop);
  fact("complete", message.complete ? "yes" : "not yet");
  if (message.usage) {
    const counts = Object.entries(message.usage).filter(([, count]) => count !== null);
    fact("usage", counts.map(([name, count]) => name.replace("_tokens", "").replace("_", " ") + " " + count).join(", "));
  }
  parts.push(el("h3", "", "How it stands"), facts);
  if (here === steps.length - 1 && data.message.error) {
    const error = data.message.error;
    parts.push(el("p", "note", ...visible("error " + [error.kind, error.code, error.message].filter(Boolean).join(": "))));
  }
  if (message.notes.length) {
    parts.push(el("h3", "", "Notes"));
    message.notes.forEach((note) => parts.push(showNote(note)));
  }
  at("message").replaceChildren(...parts);
}

// -- the rule ----------------------------------------------------------------------------------------------------------

function showNote(note) {
  return el("div", "note", el("b", "", ...visible(note.reason)), ...visible(" (" + note.rule + ")" + (note.first ? ": " + note.first : "")));
}

function showSites(kind, name, open) {
  const sites = (data.sites[kind] || {})[name] || [];
  const parts = sites.map((site) => {
    const said = site.verb === "said" ? site.where : site.where + ", " + site.verb + " by quirk " + site.quirk;
    const text = [el("div", "place", ...visible(said))];
    if (site.reason) text.push(el("div", "place", ...visible("\u201c" + site.reason + "\u201d")));
    text.push(el("pre", "", ...visible(site.text)));
    return text;
  });
  if (!parts.length || open) return parts.flat();
  const more = el("details", "", el("summary", "", ...visible(sites[sites.length - 1].where)), ...parts.flat());
  return [more];
}

function showEvent(event, passage) {
  const parts = [el("div", "event", ...visible(event.event + (event.call ? "  call " + (event.call[1] || "(no name)") : "")))];
  if (event.choice) parts.push(el("div", "place", "choice " + event.choice));
  const fields = Object.entries(event.fields);
  if (fields.length) {
    const list = el("dl", "fields mono");
    for (const [name, value] of fields) list.append(el("dt", "", name), el("dd", "", ...visible(typeof value === "string" ? JSON.stringify(value) : json(value))));
    parts.push(list);
  }
  if (event.map) parts.push(el("h3", "", "Made by"), el("div", "", el("span", "name", "map " + event.map)), ...showSites("map", event.map, false));
  if (event.split) parts.push(el("h3", "", "Came through"), el("div", "", el("span", "name", "split " + event.split)), ...showSites("split", event.split, false));
  const answers = Object.entries(event.answers);
  if (answers.length) {
    parts.push(el("h3", "", "Asked and answered"));
    parts.push(el("div", "chips mono", answers.map(([name, said]) => el("span", "chip", name + " ", el("b", "", said)))));
  }
  parts.push(el("h3", "", "Rule"));
  if (event.refused) parts.push(el("p", "note", "The message has grown beyond its bounds: nothing is done."));
  else parts.push(el("div", "name", ...visible(event.rule)), ...showSites("rule", event.rule, true));
  parts.push(el("h3", "", "Done"));
  if (!event.actions.length || event.refused) parts.push(el("div", "quiet", "nothing"));
  else {
    parts.push(el("ul", "deeds mono", event.actions.map((action) => {
      const kind = action.flush ? " flush" : action.verb === "note" || action.verb === "drop" ? " noted" : "";
      return el("li", "deed" + kind, [action.verb, ...action.words].join(" ") + (action.flush ? " (flush)" : ""));
    })));
  }
  if (event.state) {
    const moved = event.to && event.to !== event.state;
    parts.push(el("h3", "", "State"));
    parts.push(el("div", "move", el("span", "state", event.state), moved ? "\u2192" : "stays", moved ? el("span", "state new", event.to) : null));
  }
  event.notes.forEach((note) => parts.push(showNote(note)));
  event.ended.forEach((ended) => parts.push(el("div", "ended", ...showEvent(ended, passage))));
  return parts;
}

function showRule() {
  const step = steps[here];
  const passage = data.passages[step.passage];
  const parts = [];
  if (step.place === 0) passage.notes.forEach((note) => parts.push(showNote(note)));
  if (step.event) parts.push(...showEvent(step.event, passage));
  else if (!passage.mapped) parts.push(el("p", "note", "No map takes this frame."));
  else if (passage.ignored) parts.push(el("p", "quiet", ...visible("Carries nothing on purpose: ignore " + passage.ignored)), ...showSites("ignore", passage.ignored, true));
  else if (Object.keys(passage.held).length === 0) parts.push(el("p", "quiet", "No event comes of it."));
  if (step.place === Math.max(passage.events.length - 1, 0)) {
    for (const [name, text] of Object.entries(passage.held)) {
      parts.push(el("p", "held mono", ...visible("split " + name + " holds back " + JSON.stringify(text))));
    }
  }
  at("rule").replaceChildren(...parts);
  at("rule").parentElement.scrollTop = 0;
}

const SAID = { detection: "protocol recognised", close: "the body ends", unread: "not read any more" };

// -- the frames --------------------------------------------------------------------------------------------------------

const frames = data.passages.map((passage, number) => {
  const noted = (event) => event.notes.length > 0 || event.ended.some(noted);
  const dots = passage.events.map((event) => el("span", "dot" + (noted(event) ? " noted" : "")));
  const head = el("span", "head", el("span", "number", String(passage.number)), SAID[passage.kind] || passage.kind, el("span", "dots", dots));
  const button = el("button", "frame", head, el("span", "body mono"));
  button.type = "button";
  button.addEventListener("click", () => go(firstStep[number]));
  at("frames").append(el("li", "", button));
  return { button, dots, body: button.lastChild, full: null };
});

function showFrames() {
  const step = steps[here];
  frames.forEach((frame, number) => {
    const now = number === step.passage;
    frame.button.classList.toggle("here", now);
    frame.button.classList.toggle("later", number > step.passage);
    if (now) frame.button.setAttribute("aria-current", "step");
    else frame.button.removeAttribute("aria-current");
    if (frame.full !== now) {
      frame.full = now;
      frame.body.replaceChildren(...visible(now ? data.passages[number].shown : data.passages[number].news));
    }
    frame.dots.forEach((dot, place) => dot.classList.toggle("here", now && place === step.place));
  });
  const button = frames[step.passage].button;
  const list = at("frames").parentElement;
  const top = button.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (top < 40 || top + button.offsetHeight > list.clientHeight) list.scrollTop += top - list.clientHeight / 3;
}

// -- going ahead and back ----------------------------------------------------------------------------------------------

function go(number, quietly) {
  if (!steps.length) return;
  here = Math.min(Math.max(number, 0), steps.length - 1);
  at("slider").value = String(here + 1);
  at("where").textContent = (here + 1) + " of " + steps.length;
  at("first").disabled = at("back").disabled = here === 0;
  at("last").disabled = at("on").disabled = here === steps.length - 1;
  showFrames();
  showRule();
  showMessage();
  if (!quietly) history.replaceState(null, "", "#step=" + (here + 1));
  document.documentElement.dataset.step = String(here + 1);
}

function fromHash() {
  const wanted = /step=(\d+)/.exec(location.hash);
  go(wanted ? Number(wanted[1]) - 1 : 0, true);
}

let haystack = null;
let matches = [];

function search() {
  const text = at("search").value.trim().toLowerCase();
  haystack = haystack || steps.map(words);
  matches = text ? steps.map((_, number) => number).filter((number) => haystack[number].includes(text)) : [];
  const hit = new Set(matches.map((number) => steps[number].passage));
  frames.forEach((frame, number) => frame.button.classList.toggle("miss", Boolean(text) && !hit.has(number)));
  at("hits").textContent = text ? matches.length + (matches.length === 1 ? " step" : " steps") : "";
}

function nextMatch(backwards) {
  const ahead = backwards ? matches.filter((n) => n < here).pop() : matches.find((n) => n > here);
  const wanted = ahead !== undefined ? ahead : backwards ? matches[matches.length - 1] : matches[0];
  if (wanted !== undefined) go(wanted);
}

at("title").append(...visible(data.title));
at("slider").max = String(Math.max(steps.length, 1));
at("slider").addEventListener("input", (event) => go(Number(event.target.value) - 1));
at("first").addEventListener("click", () => go(0));
at("back").addEventListener("click", () => go(here - 1));
at("on").addEventListener("click", () => go(here + 1));
at("last").addEventListener("click", () => go(steps.length - 1));
at("search").addEventListener("input", search);
at("search").addEventListener("keydown", (event) => { if (event.key === "Enter") nextMatch(event.shiftKey); });
at("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.id === "search") return;
  const ways = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: steps.length - 1 };
  if (event.key === "/") { at("search").focus(); event.preventDefault(); return; }
  if (!(event.key in ways)) return;
  event.preventDefault();
  go(ways[event.key]);
});
addEventListener("hashchange", fromHash);
data.foot.forEach((said) => at("foot").append(el("span", "", ...visible(said))));
fromHash();
