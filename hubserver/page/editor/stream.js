// stream.js listens to the hub's events about projects. All tabs of a browser share one connection a
// project, because browsers keep only a few to the same host: the tab that holds the lock has it, and
// passes on what it hears. A tab that is hidden neither has it nor listens; the hub says at first how things
// are, and so does a tab that has the connection.

// pause is how long to wait before the hub is asked again after it refused, in milliseconds; it grows up
// to longest.
const pause = 2_000;
const longest = 60_000;

// grace is how long the hub may be away before that is said, as while it is replaced, in milliseconds.
const grace = 5_000;

// events are those that are passed on, with what their data must have.
const events = {
  config: ({ revision }) => typeof revision === "string",
  "base-files": ({ tree }) => typeof tree === "string",
  presence: ({ people }) => Array.isArray(people),
};

const streams = new Map(); // by path

// listen calls hear(name, data) with what happens to the project at path:
//   "config", {revision, by, via}: somebody saved a config,
//   "base-files", {tree, by, via}: somebody pushed base files,
//   "presence", {people: [{user, key}]}: who has the project open, for those with a role on the account,
//   "open": events arrive from now on, "closed": the hub refuses them for now, or was away for a while.
// It goes on after interruptions, and returns a function that ends it.
export function listen(path, hear) {
  if (!streams.has(path)) streams.set(path, new Stream(path));
  const stream = streams.get(path);
  stream.listeners.add(hear);
  if (stream.open) queueMicrotask(() => hear("open"));
  return () => {
    stream.listeners.delete(hear);
    if (stream.listeners.size > 0) return;
    streams.delete(path);
    stream.end();
  };
}

class Stream {
  listeners = new Set();
  open = false;
  last = new Map(); // from the names of events to the latest of each
  #follow = () => (document.visibilityState === "visible" ? this.#start() : this.#stop());
  #abort;
  #away; // the timer of grace

  constructor(path) {
    this.path = path;
    addEventListener("visibilitychange", this.#follow);
    this.#follow();
  }

  end() {
    removeEventListener("visibilitychange", this.#follow);
    this.#stop();
  }

  #start() {
    if (this.#abort) return;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.channel = new BroadcastChannel(`hub.events ${this.path}`);
    this.channel.onmessage = ({ data }) => (data === "ask" ? this.#answer() : this.#say(...data));
    this.channel.postMessage("ask");
    const held = () =>
      new Promise((release) => {
        signal.addEventListener("abort", release);
        this.#connect(signal, pause);
      });
    // Locks exist on https and on this machine alone: without them, each tab has a connection.
    if (navigator.locks) navigator.locks.request(this.channel.name, { signal }, held).catch(() => {});
    else held();
  }

  #stop() {
    this.#abort?.abort();
    this.#abort = undefined;
    this.#back();
    this.source?.close();
    this.source = undefined;
    this.channel?.close();
    this.open = false;
  }

  #say(name, data) {
    if (name === "open" || name === "closed") this.open = name === "open";
    for (const hear of [...this.listeners]) hear(name, data);
  }

  // #answer tells another tab how things are.
  #answer() {
    if (!this.source || !this.open) return;
    for (const event of [["open"], ...this.last]) this.channel.postMessage(event);
  }

  #tell(...event) {
    if (event[1]) this.last.set(...event);
    this.channel.postMessage(event);
    this.#say(...event);
  }

  #connect(signal, wait) {
    if (signal.aborted) return;
    const source = new EventSource(`${this.path}/events`);
    this.source = source;
    source.addEventListener("open", () => {
      wait = pause;
      this.#back();
      this.#tell("open");
    });
    for (const [name, isOurs] of Object.entries(events)) {
      source.addEventListener(name, (event) => {
        const data = parsed(event.data);
        if (data && isOurs(data)) this.#tell(name, data);
      });
    }
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) { // the browser tries again
        this.#away ??= setTimeout(() => this.#tell("closed"), grace);
        return;
      }
      setTimeout(() => this.#connect(signal, Math.min(2 * wait, longest)), wait);
      this.#back();
      this.#tell("closed");
    });
  }

  #back() {
    clearTimeout(this.#away);
    this.#away = undefined;
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
