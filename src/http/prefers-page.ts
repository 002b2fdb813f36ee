import type { IncomingMessage } from 'node:http'
import { parsePreferences } from '../protocol/preferences.ts'

/** What JSON would be an answer to. */
const JSON_RANGES: ReadonlySet<string> = new Set(['application/json', 'application/*', '*/*'])

/**
 * Whether a person will look at the answer: browsers that go somewhere rank HTML above all that JSON could be (RFC 9110
 * §12.5.1). Their scripts and every client ask for JSON, for anything, or say nothing.
 */
export function prefersPage({ method, headers: { accept } }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  if (accept === undefined || (method !== 'GET' && method !== 'HEAD')) return false
  return parsePreferences(accept).find((range) => range === 'text/html' || JSON_RANGES.has(range)) === 'text/html'
}
