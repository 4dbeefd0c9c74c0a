// project.js keeps the line up to date that says above a project's tabs who saved its config. On the Config tab, the
// editor does.

import { listen } from "./stream.js";
import { sayWritten } from "./written.js";

const { project } = document.getElementById("written").dataset;

listen(`/v1/projects/${project.slice(1)}`, (event, data) => event === "config" && sayWritten(data.revision));
