import { InvalidArgumentError } from 'commander'
import { UsageError } from './failure.ts'

/** A moment for a task, which wants a zone; a day begins at midnight UTC. */
export function parseMoment(text: string): string {
  const moment = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
  if (!/^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(moment) || Number.isNaN(Date.parse(moment))) {
    throw new InvalidArgumentError('It is a day such as 2026-01-31, or a moment such as 2026-01-31T12:00:00Z.')
  }
  return moment
}

export function parseSeconds(text: string): number {
  return parseWhole(text, 0)
}

export function parseCount(text: string): number {
  return parseWhole(text, 1)
}

function parseWhole(text: string, least: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text)
  throw new InvalidArgumentError(`It is a whole number from ${least} on.`)
}

/** Of two flags that exclude each other: whether the first is set; undefined: neither is. */
export function eitherOf(options: object, yes: string, no: string): boolean | undefined {
  const [isYes, isNo] = [yes in options, no in options]
  if (isYes && isNo) throw new UsageError(`--${yes} and --${no} exclude each other.`)
  return isYes || isNo ? isYes : undefined
}
