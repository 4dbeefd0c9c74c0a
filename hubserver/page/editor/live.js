// live.js listens to the hub's events about projects. All listeners of a page share one
// connection, because browsers keep only a few to the same host.

// pause is how long to wait before the hub is asked again after it refused, in
// milliseconds; it grows up to longest.
const pause = 2_000;
const longest = 60_000;

const streams = new Map(); // by path

// listen calls hear with what happens to the project at path:
//   "config", {revision, by, via}: somebody saved a config,
//   "base-files", {tree, by, via}: somebody pushed base files,
//   "open": events arrive from now on, "closed": the hub refuses them for now.
// It goes on after interruptions, and returns a function that ends it.
export function listen(path, hear) {
  if (!streams.has(path)) streams.set(path, new Stream(path));
  const stream = streams.get(path);
  stream.join(hear);
  return () => {
    if (stream.leave(hear)) streams.delete(path);
  };
}

class Stream {
  #listeners = new Set();
  #wait = pause;

  constructor(path) {
    this.path = path;
    this.#open();
  }

  join(hear) {
    this.#listeners.add(hear);
    if (this.source.readyState === EventSource.OPEN) queueMicrotask(() => hear("open"));
  }

  // leave returns whether nobody listens any more.
  leave(hear) {
    this.#listeners.delete(hear);
    if (this.#listeners.size > 0) return false;
    clearTimeout(this.timer);
    this.source.close();
    return true;
  }

  #say(name, data) {
    for (const hear of [...this.#listeners]) hear(name, data);
  }

  #open() {
    this.source = new EventSource(`${this.path}/events`);
    this.source.addEventListener("open", () => {
      this.#wait = pause;
      this.#say("open");
    });
    for (const [name, member] of [["config", "revision"], ["base-files", "tree"]]) {
      this.source.addEventListener(name, (event) => {
        const data = parsed(event.data);
        if (typeof data?.[member] === "string") this.#say(name, data);
      });
    }
    this.source.addEventListener("error", () => {
      if (this.source.readyState !== EventSource.CLOSED) return; // the browser tries again
      this.timer = setTimeout(() => this.#open(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, longest);
      this.#say("closed");
    });
  }
}

// parsed returns what a JSON text holds, null for what is none of ours.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
