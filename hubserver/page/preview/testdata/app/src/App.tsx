import { useEffect } from 'react'
import { forms, title } from '@/generated'
import mark from './assets/mark.svg'

export function App() {
  useEffect(() => top!.postMessage('shows ' + title, '*'))
  return (
    <main>
      <img src={mark} alt="" width="16" />
      <h1>{title}</h1>
      {forms.map((Form, i) => <Form key={i} />)}
    </main>
  )
}
