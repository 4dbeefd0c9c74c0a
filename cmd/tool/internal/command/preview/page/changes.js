// Reads what tool sends about the working tree: a line of JSON, and then the contents of
// the files that it lists.

/**
 * readChanges returns {n, failed, revision, tree, stack, update}; update has the members
 * that the frame takes.
 */
export function readChanges(bytes) {
  const end = bytes.indexOf(10);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  let at = end + 1;
  const contents = (list) => (list ?? []).map(({ path, size, large }) => {
    if (large) return [path, { size }];
    at += size;
    return [path, bytes.slice(at - size, at)];
  });
  const update = {};
  if (head.stack) update.stack = { ...head.stack, module: head.stack.module ?? null, files: new Map(contents(head.imports)) };
  const files = contents(head.files);
  if (head.config) update.saved = head.config;
  if (head.api !== undefined) update.api = head.api;
  if (head.tree !== undefined) {
    if (head.all) update.files = new Map(files);
    else if (files.length + head.removed.length > 0) update.changed = [...files, ...head.removed.map((path) => [path, null])];
  }
  return { n: head.n, failed: head.failed, revision: head.revision, tree: head.tree, stack: update.stack, update };
}
