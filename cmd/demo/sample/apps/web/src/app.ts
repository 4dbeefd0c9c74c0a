export function mount(root: HTMLElement) {
  root.append("Pets for sale");
}
