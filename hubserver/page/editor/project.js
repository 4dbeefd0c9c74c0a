// project.js keeps the line up to date that says above a project's tabs who saved its config. On the Config tab, the
// editor does.

import { listen } from './live.js'

const { project } = document.getElementById('written').dataset
let end = null
let busy = Promise.resolve()

// look reads the line in the page as it is now. What cannot be read now comes with a later event.
async function look(revision) {
  if (document.getElementById('written').dataset.revision === revision) return
  try {
    const text = await (await fetch(location.href, { headers: { Accept: 'text/html' } })).text()
    const line = new DOMParser().parseFromString(text, 'text/html').getElementById('written')
    if (line) document.getElementById('written').replaceWith(line)
  } catch {
    // there is no connection
  }
}

// follow listens while the page is visible: browsers keep few connections to the same host.
function follow() {
  if (document.visibilityState === 'visible') {
    end ??= listen(`/v1/projects/${project.slice(1)}`, (event, data) => {
      if (event === 'config') busy = busy.then(() => look(data.revision))
    })
  } else {
    end?.()
    end = null
  }
}

addEventListener('visibilitychange', follow)
follow()
