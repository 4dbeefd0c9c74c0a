// leave.js warns before unsaved changes are lost.

// warn asks before the page is left with changes, except for pages to which the draft goes
// along: those of the project, and signing in.
export function warn(editor) {
  addEventListener("beforeunload", (event) => {
    editor.keep();
    if (editor.model?.dirty && !(editor.left && editor.kept)) event.preventDefault();
  });
  addEventListener("pagehide", () => editor.keep?.());
  addEventListener("pageshow", () => { editor.left = false; });
  document.addEventListener("click", (event) => {
    const to = event.target.closest?.("a[href]");
    const elsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    setTimeout(() => { editor.left = false; }, 1000); // it was not followed
    editor.left = Boolean(to) && !elsewhere && (to.pathname === `/${editor.project}` || to.pathname.startsWith(`/${editor.project}/`) || to.pathname === "/sign-in");
  });
}
