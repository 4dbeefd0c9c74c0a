import { useEffect, useState } from 'react'
import { forms, theme, title } from './generated'

/** Shows one form at a time: the one that the address's hash names. */
export function App() {
  const [name, setName] = useState(location.hash.slice(1))
  useEffect(() => {
    const follow = () => setName(location.hash.slice(1))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  const shown = forms.find(form => form.name === name) ?? forms[0]
  return (
    <main style={{ '--accent': theme.colour, lineHeight: theme.density } as never}>
      <h1>{title}</h1>
      <nav>
        {forms.map(form => (
          <a key={form.name} href={'#' + form.name} aria-current={form === shown ? 'page' : undefined}>{form.label}</a>
        ))}
      </nav>
      {shown && <shown.Form key={shown.name} />}
    </main>
  )
}
