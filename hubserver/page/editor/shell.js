// shell.js adds to every page what works only with JavaScript: forms that change something, buttons that copy command
// lines, menus that close, and the palette.

import './forms.js'

for (const block of document.querySelectorAll('.command')) {
  const button = Object.assign(document.createElement('button'), { type: 'button', className: 'button copy' })
  button.textContent = 'Copy'
  const code = block.querySelector('code')
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code.textContent)
      button.textContent = 'Copied'
    } catch {
      getSelection().selectAllChildren(code) // the user presses the keys
      button.textContent = 'Press Ctrl+C'
    }
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
  block.append(button)
}

// A menu closes when something outside of it is pressed or focused, and with Escape.
const close = (keep) => {
  for (const menu of document.querySelectorAll('details.menu[open]')) if (!menu.contains(keep)) menu.open = false
}
addEventListener('pointerdown', event => close(event.target))
addEventListener('focusin', event => close(event.target))
addEventListener('keydown', event => {
  if (event.key !== 'Escape') return
  document.activeElement.closest('details.menu[open]')?.querySelector('summary').focus()
  close(null)
})

// The palette: ⌘K on a Mac, Ctrl+K elsewhere. All shortcuts: ?
const mac = navigator.platform.startsWith('Mac')
const search = document.querySelector('.bar .find')
const shortcuts = document.getElementById('shortcuts')
const palette = async () => (await import('./palette.js')).open()
if (mac) for (const kbd of document.querySelectorAll('kbd')) kbd.textContent = kbd.textContent.replace('Ctrl ', '⌘')
search.querySelector('kbd').hidden = false
const key = Object.assign(document.createElement('button'), { type: 'button', className: 'button quiet icon search' })
key.setAttribute('aria-label', 'Go to a project or key')
key.append(search.querySelector('svg').cloneNode(true))
key.addEventListener('click', palette)
search.after(key)
addEventListener('keydown', event => {
  if (event.key === '?' && !event.target.closest('input, textarea, select, dialog')) shortcuts.showPopover()
  if (event.key !== 'k' || !(mac ? event.metaKey : event.ctrlKey) || event.shiftKey || event.altKey) return
  event.preventDefault()
  palette()
})
