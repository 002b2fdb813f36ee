import type { AuditEvent } from '../ports/records/audit.ts'
import type { Operation } from '../ports/operations/index.ts'
import { OUT_OF_REACH } from '../ports/operations/reach.ts'
import { OPERATIONS } from './nouns.ts'

/** A row with its own input and outcome types erased. */
interface AnyRow {
  readonly cache: 'kept' | 'cleared' | ((input: unknown) => string | readonly string[] | undefined)
  readonly event: 'no-event' | ((input: unknown, outcome: unknown) => AuditEvent | readonly AuditEvent[] | undefined)
}

/** The cached records that an operation changes: all, or those with these keys. */
export function changedRecords({ name, input }: Operation): 'everything' | readonly string[] {
  const { cache } = OPERATIONS[name] as AnyRow
  if (cache === 'kept') return []
  const keys = cache === 'cleared' ? undefined : cache(input)
  return keys === undefined ? 'everything' : [keys].flat()
}

/** Returns the audit events of a batch of operations, in the order of the batch. Operations without an event are left out. */
export function auditEvents(operations: readonly Operation[], outcomes: readonly unknown[]): readonly AuditEvent[] {
  const events: AuditEvent[] = []
  operations.forEach(({ name, input, by, requestId }, index) => {
    const { event: eventOf } = OPERATIONS[name] as AnyRow
    const outcome = outcomes[index]
    const caused = eventOf === 'no-event' || outcome === OUT_OF_REACH ? undefined : eventOf(input, outcome)
    if (caused === undefined) return
    const cause = { ...(requestId !== undefined && { requestId }), ...(by !== undefined && { actor: by }) }
    for (const event of [caused].flat()) events.push({ ...event, ...cause })
  })
  return events
}
