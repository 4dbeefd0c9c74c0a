// toasts.js has what happened and is to be said: one message of each kind at a time.

import { signal } from "@preact/signals";

// toasts are {kind, look, text, actions, link}: look is info, good, warning or bad; actions maps the
// texts of buttons to what they do; link is {href, text}.
export const toasts = signal([]);

export function say(kind, look, text, actions = {}, link) {
  toasts.value = [...toasts.value.filter((t) => t.kind !== kind), { kind, look, text, actions, link }];
}

export function unsay(...kinds) {
  if (toasts.peek().some((t) => kinds.includes(t.kind)))
    toasts.value = toasts.peek().filter((t) => !kinds.includes(t.kind));
}
