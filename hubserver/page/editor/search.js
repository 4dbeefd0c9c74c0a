// search.js finds keys by what they, or their values, contain. The texts are prepared
// once, so that a search through 10,000 keys takes a few milliseconds.

// Index finds keys. texts is a Map from keys to the texts of their values.
export class Index {
  constructor(texts) {
    this.entries = new Map();
    for (const [key, text] of texts) this.update(key, text);
  }

  // update changes, or with undefined removes, the text of a key.
  update(key, text) {
    if (text === undefined) this.entries.delete(key);
    else this.entries.set(key, fold(key) + "\n" + fold(text));
  }

  // search returns the Set of keys that contain every word of query, in their name or
  // value; undefined for a query without a word, which is no restriction.
  search(query) {
    const words = fold(query).split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) return undefined;
    const found = new Set();
    for (const [key, text] of this.entries) if (words.every((word) => text.includes(word))) found.add(key);
    return found;
  }
}

// fold removes what a search ignores: case.
const fold = (text) => text.toLowerCase();
