// Keeps the line up to date that says above a project's tabs who wrote its config. On the
// Config tab, the editor does.

import { listen } from "./stream.js";
import { sayWritten } from "./written.js";

const { project, revision } = document.getElementById("written").dataset;
const path = `/v1/projects/${project.slice(1)}`;
let said = revision;
let end = null;
let busy = Promise.resolve();

// look asks the hub who wrote the config. What cannot be asked now comes with a later event.
async function look() {
  try {
    const response = await fetch(path);
    if (!response.ok) return;
    const { config } = await response.json();
    said = config.revision;
    sayWritten({ by: config.updatedBy, via: config.updatedVia, at: config.updatedAt });
  } catch {
    // there is no connection
  }
}

// follow listens while the page is visible: browsers keep few connections to the same host.
function follow() {
  if (document.visibilityState === "visible") {
    end ??= listen(path, (event, data) => {
      if (event === "config" && data.revision !== said) busy = busy.then(look);
    });
  } else {
    end?.();
    end = null;
  }
}

addEventListener("visibilitychange", follow);
follow();
