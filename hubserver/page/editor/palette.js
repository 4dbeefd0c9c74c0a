// palette.js is a dialog that goes to a project, or to a key of the project that the page is about.

const project = document.getElementById('project')?.pathname // such as /@acme/web
const most = 8 // of each kind
let dialog, input, list, keys
let asked = 0

// open shows the palette, and reads the keys of the project once.
export function open() {
  if (!dialog) make()
  if (dialog.open) return
  input.value = ''
  dialog.showModal()
  find()
}

function make() {
  dialog = element('dialog', { className: 'palette', ariaLabel: 'Go to a project or key' })
  input = element('input', { type: 'search', placeholder: 'Go to a project or key', dir: 'auto', autocomplete: 'off' })
  Object.assign(input, { role: 'combobox', ariaExpanded: 'true', ariaLabel: input.placeholder })
  list = element('ul', { id: 'found', role: 'listbox', ariaLabel: 'Found' })
  input.setAttribute('aria-controls', list.id)
  dialog.append(input, list)
  document.body.append(dialog)
  input.addEventListener('input', find)
  input.addEventListener('keydown', move)
  dialog.addEventListener('click', event => { if (event.target === dialog) dialog.close() })
}

const element = (name, properties) => Object.assign(document.createElement(name), properties)

// find lists what matches the text.
async function find() {
  const text = input.value.trim().toLowerCase()
  const mine = ++asked
  keys ??= project ? keysOf(`/v1/projects${project.replace('@', '')}/config`) : Promise.resolve([])
  const [projects, all] = await Promise.all([projectsWith(text), keys])
  if (mine !== asked) return
  const found = [
    ...projects.map(name => ({ text: name, kind: 'project', href: `/${name}` })),
    ...all.filter(name => text && name.toLowerCase().includes(text)).slice(0, most)
      .map(name => ({ text: name, kind: 'key', href: `${project}#key=${encodeURIComponent(name)}` })),
  ]
  list.replaceChildren(...found.map(option))
  select(list.firstElementChild)
  if (found.length === 0) list.append(element('li', { className: 'subdued', textContent: 'Nothing matches.' }))
}

function option({ text, kind, href }, i) {
  const item = element('li', { id: `found-${i}`, role: 'option' })
  item.append(element('bdi', { textContent: text }), element('span', { className: 'subdued', textContent: kind }))
  item.addEventListener('click', () => {
    dialog.close()
    location.assign(href)
  })
  return item
}

function select(item) {
  list.querySelector('[aria-selected]')?.removeAttribute('aria-selected')
  item?.setAttribute('aria-selected', 'true')
  item?.scrollIntoView({ block: 'nearest' })
  input.setAttribute('aria-activedescendant', item?.id ?? '')
}

function move(event) {
  const now = list.querySelector('[aria-selected]')
  if (event.key === 'Enter') {
    event.preventDefault()
    now?.click()
    return
  }
  const to = { ArrowDown: now?.nextElementSibling, ArrowUp: now?.previousElementSibling }[event.key]
  if (!to) return
  event.preventDefault()
  select(to)
}

// projectsWith returns the names of projects with a text in them: none for visitors, who have no list.
async function projectsWith(text) {
  if (!document.querySelector('.who')) return []
  const answer = await json(`/v1/projects?limit=${most}&q=${encodeURIComponent(text)}`)
  return (answer?.projects ?? []).map(({ project: { account, slug } }) => `@${account}/${slug}`)
}

async function keysOf(path) {
  const answer = await json(path)
  return Object.keys(answer?.config ?? {})
}

async function json(path) {
  try {
    const response = await fetch(path, { headers: { Accept: 'application/json' } })
    return response.ok ? await response.json() : null
  } catch {
    return null
  }
}
