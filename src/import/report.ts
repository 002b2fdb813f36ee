import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import type { ImportReason } from './reasons.ts'
import type { ImportedKind } from './records.ts'

export const OUTCOMES = ['created', 'same', 'differs', 'updated', 'skipped', 'refused'] as const
export type ImportOutcome = (typeof OUTCOMES)[number]

/** A line of the report. It has no address, name, hash or secret, except an address that is an id there. */
export interface ReportLine {
  readonly line: number
  /** `redirect_uri`: one of the URIs of a client. */
  readonly kind: ImportedKind | 'redirect_uri'
  readonly sourceId: string | undefined
  readonly id: string | undefined
  readonly outcome: ImportOutcome
  readonly reasons: readonly ImportReason[]
  /** Names of members, also of those that differ or were changed, or a line. Of clients also what the server says. */
  readonly detail?: string | undefined
}

/** A text of a file, if it looks like a term of a protocol: words with few digits at their ends. Others may be secrets. */
export function termOf(text: unknown): string | undefined {
  const isTerm =
    typeof text === 'string' && /^(?=.{1,80}$)[A-Za-z]{1,20}\d{0,4}(?:[-_.:][A-Za-z]{1,20}\d{0,4})*$/.test(text)
  return isTerm ? text : undefined
}

/** A file that the import writes, for its owner only. */
export interface OutputFile {
  readonly write: (members: object) => void
  readonly close: () => void
}

/**
 * Opens a file that must not exist, so that none that others can read is written to. `atOnce`: lines that are written together, because to write
 * one takes longer than to check a record. undefined: no file was named, and nothing is written.
 *
 * @throws Error when it exists, or cannot be made
 */
export function openOutput(path: string | undefined, atOnce: number): OutputFile {
  if (path === undefined) return { write: () => undefined, close: () => undefined }
  const file = create(path)
  let waiting: string[] = []
  const flush = () => {
    const lines = waiting.join('')
    waiting = []
    // On a disk that is almost full, a single write takes a part of a line, and is no error.
    writeFileSync(file, lines)
    // The line is about what is stored next, and must not be lost before it.
    if (atOnce === 1) fsyncSync(file)
  }
  return {
    write(members) {
      waiting.push(`${JSON.stringify(members)}\n`)
      if (waiting.length >= atOnce) flush()
    },
    close() {
      try {
        if (waiting.length > 0) flush()
      } finally {
        closeSync(file)
      }
    },
  }
}

function create(path: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'it exists already. Name another file, or move it away.' : code
    throw new Error(`${path} cannot be made: ${why}`, { cause })
  }
}
