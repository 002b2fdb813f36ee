import * as z from 'zod'
import { AUDIT_EVENTS } from '../protocol/event-names.ts'

/** What words begin with, up to the dot: `client.`. */
const FAMILIES: readonly string[] = [...new Set(AUDIT_EVENTS.map(familyOf))].toSorted()
const FILTERS: ReadonlySet<string> = new Set([...FAMILIES, ...AUDIT_EVENTS])

/** The events that a list of the audit is asked for. One that there is not would list nothing, as if nothing had happened. */
export const EVENT_FILTER = z
  .string()
  .refine((text) => FILTERS.has(text), { error: ({ input }) => sentenceOfUnknown(String(input)) })
  .meta({ enum: [...FILTERS] })
  .describe('This event, or with a dot at the end all that begin so: client.')

function sentenceOfUnknown(text: string): string {
  const family = text.includes('.') ? familyOf(text) : `${text}.`
  if (!FAMILIES.includes(family)) return `There is no such event. Events begin with: ${FAMILIES.join(', ')}`
  const words = AUDIT_EVENTS.filter((word) => familyOf(word) === family)
  return `There is no such event. Those of ${family} are: ${words.join(', ')}`
}

function familyOf(word: string): string {
  return word.slice(0, word.indexOf('.') + 1)
}
