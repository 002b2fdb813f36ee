import type { Form } from './form.ts'
import type { FoundScreen } from './open-screen.ts'

/** The page of the list or the object, with its filters. */
export function withoutAsking({ here }: Pick<FoundScreen, 'here'>): string {
  const [path = '', query = ''] = here.split('?', 2)
  const kept = new URLSearchParams(query)
  kept.delete('ask')
  kept.delete('subject')
  return kept.size === 0 ? path : `${path}?${kept.toString()}`
}

/** The page that asks before a form. */
export function askAddress(
  screen: Pick<FoundScreen, 'here'>,
  { task }: Pick<Form, 'task'>,
  subjects: readonly string[],
): string {
  const [path = '', query = ''] = withoutAsking(screen).split('?', 2)
  const asked = new URLSearchParams(query)
  asked.set('ask', task)
  for (const subject of subjects) asked.append('subject', subject)
  return `${path}?${asked.toString()}`
}
