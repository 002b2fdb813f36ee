import type { Form, Frame } from './form.ts'

/** The path and the query of a page, without what was said before. */
interface Here {
  readonly here: string
}

/** The page of the list or the object, with its filters. */
export function withoutAsking({ here }: Here): string {
  const [path = '', query = ''] = here.split('?', 2)
  const kept = new URLSearchParams(query)
  kept.delete('ask')
  kept.delete('row')
  return kept.size === 0 ? path : `${path}?${kept.toString()}`
}

/** The page that asks before a form. */
export function askAddress(screen: Here, { task }: Pick<Form, 'task'>, subjects: readonly string[]): string {
  const [path = '', query = ''] = withoutAsking(screen).split('?', 2)
  const asked = new URLSearchParams(query)
  asked.set('ask', task)
  for (const subject of subjects) asked.append('row', subject)
  return `${path}?${asked.toString()}`
}

/** The address of this screen with a changed query. What was said on the page before is left out. */
export function addressOf(
  { place }: Pick<Frame, 'place'>,
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const { done: _, ask: __, row: ___, signed_in: ____, format: _____, ...kept } = place.query
  const pairs = Object.entries({ ...kept, ...changes }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  )
  const query = new URLSearchParams(pairs).toString()
  return query === '' ? place.path : `${place.path}?${query}`
}
