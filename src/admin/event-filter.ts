import * as z from 'zod'
import { AUDIT_EVENTS } from '../protocol/event-names.ts'

/** The prefixes of event names, with the dot: `client.`. */
const FAMILIES: readonly string[] = [...new Set(AUDIT_EVENTS.map(familyOf))].toSorted()
const FILTERS: ReadonlySet<string> = new Set([...FAMILIES, ...AUDIT_EVENTS])

/** A filter of audit events. An unknown name is rejected: its list would be empty, as if nothing had happened. */
export const EVENT_FILTER = z
  .string()
  .refine((text) => FILTERS.has(text), { error: ({ input }) => sentenceOfUnknown(String(input)) })
  .meta({ enum: [...FILTERS] })
  .describe('An event, or a prefix with a dot at its end: client.')

function sentenceOfUnknown(text: string): string {
  const family = text.includes('.') ? familyOf(text) : `${text}.`
  if (!FAMILIES.includes(family)) return `There is no such event. Events begin with: ${FAMILIES.join(', ')}`
  const words = AUDIT_EVENTS.filter((word) => familyOf(word) === family)
  return `There is no such event. Those of ${family} are: ${words.join(', ')}`
}

function familyOf(word: string): string {
  return word.slice(0, word.indexOf('.') + 1)
}
