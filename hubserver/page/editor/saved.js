// saved.js remembers the last save of this tab, so that it can be undone, also when the page
// is left and opened again.

const storedName = (project) => `hub.saved ${project}`;

// LastSave is the last save of a project in this tab.
export class LastSave {
  #saved = null;

  constructor(project, storage = sessionStorage) {
    Object.assign(this, { project, storage });
    try {
      this.#saved = JSON.parse(storage.getItem(storedName(project)));
    } catch {
      // it was not stored
    }
  }

  // remember keeps the changes that a save made and the revision that came of it.
  remember(revision, changes) {
    this.#saved = { revision, changes };
    try {
      this.storage.setItem(storedName(this.project), JSON.stringify(this.#saved));
    } catch {
      // it is lost with the page
    }
  }

  // changes returns those of the last save if revision came of it, null otherwise.
  changes(revision) {
    const saved = this.#saved;
    return saved?.revision === revision && Array.isArray(saved.changes) ? saved.changes : null;
  }
}
