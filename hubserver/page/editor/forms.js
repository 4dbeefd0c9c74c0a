// forms.js sends the forms of pages to the hub's JSON API. A refused form stays as it is, with the refusal in it.
//
//   data-method, data-action   the request; the form's fields are its body
//   data-if-match              the revision that it replaces
//   data-edit                  the button waits until a field has changed
//   data-shows                 the id of what then takes the form's place; in it, data-of names members of the answer
//   data-done                  the address that is opened otherwise, by default that of the page

// fields returns the body of a request: a checkbox without a value is true or false, those with one are a list.
function fields(form) {
  const body = {}
  for (const { name, type, value, checked, dataset, attributes } of form.elements) {
    if (!name || (type === 'radio' && !checked)) continue
    if (type === 'checkbox' && attributes.value) body[name] = [...(body[name] ?? []), ...(checked ? [value] : [])]
    else if (type === 'checkbox') body[name] = checked
    else if ('ref' in dataset) body[name] = split(value)
    else body[name] = value.trim()
  }
  return body
}

function split(ref) {
  const [, account, slug] = /^@?([^/]*)\/?(.*)$/.exec(ref.trim())
  return { account, slug }
}

// request returns the answer of the hub, or its problem.
async function request({ method, action, ifMatch }, fields) {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' }
  if (ifMatch) headers['If-Match'] = `"${ifMatch}"`
  const body = method === 'DELETE' ? undefined : JSON.stringify(fields)
  try {
    const response = await fetch(action, { method, headers, body, redirect: 'error' })
    const answer = await response.json()
    return response.ok ? { answer } : { problem: answer }
  } catch {
    return { problem: { detail: 'the hub could not be reached' } }
  }
}

const sentence = text => `${text[0].toUpperCase()}${text.slice(1)}. `

// refuse says why the hub refused a form, and moves the focus to the first field that is wrong, or to the message.
function refuse(form, { status, code, detail, hint, errors = [] }) {
  const message = form.querySelector('[role=alert]')
  const wrong = errors.map(({ pointer }) => form.elements[pointer?.split('/')[1]]).filter(field => field?.setAttribute)
  const said = wrong.length ? errors.map(error => error.detail) : [detail]
  if (hint) said.push(hint)
  message.replaceChildren(...said.map(sentence))
  if (code === 'not_signed_in') message.append(link('Sign in', '/sign-in?to=/tokens', '_blank'))
  if (status === 412) message.append(link('Load the page again', location.href))
  message.hidden = false
  message.id ||= `refusal-${[...document.forms].indexOf(form)}`
  for (const field of wrong) {
    field.setAttribute('aria-invalid', 'true')
    field.setAttribute('aria-errormessage', message.id)
  }
  ;(wrong[0] ?? message).focus()
}

function link(text, href, target = '') {
  return Object.assign(document.createElement('a'), { textContent: text, href, target })
}

// show puts what a form led to in its place.
function show(form, answer) {
  const shown = document.getElementById(form.dataset.shows)
  for (const part of shown.querySelectorAll('[data-of]')) part.textContent = answer[part.dataset.of]
  form.hidden = true
  shown.hidden = false
  shown.focus()
}

async function send(form) {
  form.querySelector('[role=alert]').hidden = true
  for (const field of form.elements) field.removeAttribute('aria-invalid')
  const { answer, problem } = await request(form.dataset, fields(form))
  if (problem) refuse(form, problem)
  else if (form.dataset.shows) show(form, answer)
  else if (form.dataset.done) location.assign(form.dataset.done)
  else location.reload()
}

for (const form of document.querySelectorAll('form[data-action]')) {
  const button = form.querySelector('button')
  const before = JSON.stringify(fields(form))
  const update = () => { button.disabled = 'edit' in form.dataset && JSON.stringify(fields(form)) === before }
  let busy = false
  form.addEventListener('input', update)
  form.addEventListener('submit', async event => {
    event.preventDefault()
    if (busy) return
    busy = true
    await send(form)
    busy = false
  })
  update()
}
