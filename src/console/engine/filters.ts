import { requireTask } from '../../admin/tasks.ts'
import { inputFields, type InputField } from './input-fields.ts'
import { queryTypes, readQueryValue } from '../../admin/query-values.ts'
import type { Task } from '../../admin/task.ts'
import type { AnyScreen, Section } from '../screen.ts'
import type { Filter, Members, Texts } from './form.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Where a filter takes more than the member of the task, or has the word of a column. */
const FILTER_LABELS: Readonly<Record<string, string>> = {
  actor: 'Who',
  text: 'Name or address',
  subject: 'Id at your application',
  since: 'Since (UTC)',
  until: 'Until (UTC)',
  trust_level: 'Trust',
}

/** What a text is compared with, where it is not names and addresses. */
const TEXT_LABELS: Readonly<Partial<Record<Section, string>>> = {
  clients: 'Name or host',
  'access-rules': 'Id or what it does',
}

/** What a list can be filtered by, and what the address has of it. */
export function filtersOf({ section, reads, filters }: AnyScreen, query: Texts): readonly Filter[] {
  const [first] = Object.values(reads)
  if (first === undefined || filters.length === 0) return []
  return inputFields(requireTask(first.task), filters).map(({ name, label, kind, choices }: InputField) => ({
    name,
    label: (name === 'text' ? TEXT_LABELS[section] : undefined) ?? FILTER_LABELS[name] ?? label,
    kind: kind === 'choice' || kind === 'time' ? kind : 'text',
    choices,
    value: query[name],
  }))
}

/** The members of a list that the address names, converted as those of the API. */
export function readFilters(
  task: Task,
  filters: readonly string[],
  query: Readonly<Record<string, string | undefined>>,
): Members {
  const types = queryTypes(task)
  return Object.fromEntries(
    ['before', ...filters].flatMap((name) => {
      const text = query[name]
      if (text === undefined || !types.has(name)) return []
      return [[name, readQueryValue(types.get(name) ?? 'string', [wholeDay(name, text)])]]
    }),
  )
}

/** A day, as browsers send it: since its start, or until its end. */
function wholeDay(name: string, text: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return text
  const start = Date.parse(`${text}T00:00:00Z`)
  // The 31st of February is a day of March for Date.parse.
  if (Number.isNaN(start) || !new Date(start).toISOString().startsWith(text)) return text
  return new Date(name === 'until' ? start + DAY_MS : start).toISOString()
}
