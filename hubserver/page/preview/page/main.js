// The Preview tab.

import { Preview } from "./preview.js";
import * as view from "../../static/preview/view.js";

const root = document.getElementById("preview");

// The switch is a request to the hub, which says who may use it.
document.getElementById("publish")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const isPublic = event.target.dataset.public !== "true";
  const response = await fetch("/v1/projects/" + root.dataset.project.slice(1), {
    method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ publicPreview: isPublic }),
  });
  if (response.ok) return location.reload();
  const { detail, hint } = await response.json().catch(() => ({}));
  view.failure(event.target.querySelector(".notice"), { kind: "", message: detail ?? `the hub responded with status ${response.status}`, hint });
});

if (root?.dataset.frame) new Preview(root).start();
