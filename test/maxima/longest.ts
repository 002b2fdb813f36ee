import { MAXIMA } from '../../src/base/maxima.ts'
import type { ApiScope } from '../../src/ports/records/api.ts'

/** Texts and declarations at the maxima of src/base/maxima.ts. */

/** An identifier and as many scopes as one API may declare, which have together as many characters as they may. */
export function longestApi(host: string): { readonly resource: string; readonly scopes: readonly ApiScope[] } {
  const resource = `https://${host}`
  const count = MAXIMA.scopesOfApi.most
  const room = MAXIMA.apiTexts.most - resource.length - 1
  return { resource, scopes: scopesOf(host[0] ?? 'a', count, (index) => shareOf(room, count, index) - 1) }
}

/** Scopes with names of these lengths, and sentences of the greatest length. */
export function scopesOf(start: string, count: number, length: (index: number) => number): readonly ApiScope[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${start}${index}:`.padEnd(length(index), 'x'),
    sentence: '€'.repeat(MAXIMA.displayText.most),
    grantedTo: 'users-and-machines',
  }))
}

/** The share of one of `count`, so that the shares have the sum `room`. */
function shareOf(room: number, count: number, index: number): number {
  return Math.floor(room / count) + (index < room % count ? 1 : 0)
}

export function namesOf(scopes: readonly Pick<ApiScope, 'name'>[]): string {
  return scopes.map(({ name }) => name).join(' ')
}
