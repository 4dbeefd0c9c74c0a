// The Preview tab.

import { Preview } from "./preview.js";

const root = document.getElementById("preview");

if (root?.dataset.frame) new Preview(root).start();
