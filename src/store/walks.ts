import type { WalkedClients, WalkedGrants } from '../ports/walks.ts'
import type { Row } from './rows.ts'

/** Turns the row of a slice into its counts, for both stores. */
export function walkedGrants(row: Row, limit: number): WalkedGrants {
  const live = Number(row['live'])
  return { next: nextOf(row, limit), live, over: Number(row['seen']) - live }
}

export function walkedClients(row: Row, limit: number): WalkedClients {
  const disabled = Number(row['disabled'])
  const used = Number(row['used'])
  return { next: nextOf(row, limit), disabled, used, unused: Number(row['seen']) - disabled - used }
}

/** A slice with fewer rows than the limit was the last one. */
function nextOf(row: Row, limit: number): string {
  return Number(row['seen']) < limit ? '' : String(row['last'])
}
