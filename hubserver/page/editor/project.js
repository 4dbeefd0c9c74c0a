// project.js keeps the head of a project up to date: who saved its config, and who has it open. On the Config
// tab, the editor does.

import { present } from "./presence.js";
import { listen } from "./stream.js";
import { sayWritten } from "./written.js";

const { project } = document.getElementById("written").dataset;

const path = `/v1/projects/${project.slice(1)}`;

listen(path, (event, data) => event === "config" && sayWritten(data.revision));
present(path);
