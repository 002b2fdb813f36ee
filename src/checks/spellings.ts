import type { ClientInspection, SpellingInspection } from '../ports/inspection.ts'
import { warning, type Finding } from './finding.ts'

/** The accounts that a finding names. */
const NAMED = 20

/** Names the accounts that no address finds. They come from a store in which a domain had more than one spelling. */
export function checkSpellings({ spellings }: Pick<ClientInspection, 'spellings'>): readonly Finding[] {
  if (spellings.length === 0) return []
  const names = spellings.slice(0, NAMED).map(nameOf).join('; ')
  const more = spellings.length > NAMED ? `; and ${spellings.length - NAMED} more` : ''
  return [
    warning(
      'addresses',
      `No user signs in by an address that two accounts have in two spellings, or that is not valid: ${names}${more}.`,
      'Delete one of the accounts, or give it another address: grantor user set-email <user> --to <address>',
    ),
  ]
}

function nameOf({ userId, email, otherId }: SpellingInspection): string {
  return otherId === undefined ? `${email} (${userId})` : `${email} (${userId} and ${otherId})`
}
