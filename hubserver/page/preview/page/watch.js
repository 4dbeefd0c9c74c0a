// Says when the hub has another config or other base files. It listens to the project's
// events, and asks from time to time where there are none.

import { listen } from "../../editor/stream.js";

const pause = 4000; // ms between two questions

// watch calls changed with {revision} or {tree} when somebody else saved or pushed. state
// returns what the hub has now. It returns a function that ends it.
export function watch(base, state, changed) {
  let asking;
  const ask = async () => {
    try {
      changed(await state());
    } catch {
      // the next question, or an event, may be answered
    }
  };
  const end = listen(base, (name, data) => {
    if (name === "closed") return (asking ??= setInterval(() => document.visibilityState === "visible" && ask(), pause));
    if (name === "presence") return undefined;
    if (name !== "open") return changed({ revision: data.revision, tree: data.tree });
    clearInterval(asking);
    asking = undefined;
    ask(); // what happened while there was no connection
  });
  return () => {
    clearInterval(asking);
    end();
  };
}
