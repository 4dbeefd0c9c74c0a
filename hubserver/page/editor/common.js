// common.js finds what two lists have in common.

// maxTable bounds the work; beyond it, only the beginnings and the ends of the lists are compared.
const maxTable = 400_000;

// common returns the pairs of indexes of a longest common subsequence, and then the two lengths.
export function common(a, b) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const same = Array.from({ length: start }, (_, i) => [i, i]);
  for (const [i, j] of middle(a.slice(start, a.length - end), b.slice(start, b.length - end)))
    same.push([start + i, start + j]);
  for (; end >= 0; end--) same.push([a.length - end, b.length - end]);
  return same;
}

function middle(a, b) {
  if (a.length * b.length > maxTable) return [];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width); // of each pair of rests
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  const same = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) same.push([i++, j++]);
    else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i++;
    else j++;
  }
  return same;
}
