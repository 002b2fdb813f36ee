import type { Input, OperationName, Outcome } from '../../ports/operations/index.ts'
import type { AuditEvent } from '../../ports/records/audit.ts'
import type { AuditEventName } from '../../protocol/audit/event-names.ts'
import type { ClientId } from '../../protocol/ids.ts'

/** How the store treats an operation besides committing it. */
export interface OperationRow<Name extends OperationName> {
  /** What the operation drops from the record cache: nothing, all records, or those with the returned keys; undefined: all. */
  readonly cache: 'kept' | 'cleared' | ((input: Input<Name>) => string | readonly string[] | undefined)
  /** The audit events (docs/audit.md). The function returns undefined if this outcome is no event. */
  readonly event:
    | 'no-event'
    | ((input: Input<Name>, outcome: Outcome<Name>) => AuditEvent | readonly AuditEvent[] | undefined)
}

/** The cache key of an operation on one record. */
export function idOf<Id extends string>(input: Id | { readonly id: Id }): Id {
  return typeof input === 'string' ? input : input.id
}

/** Of an operation's outcomes, only this one is an event. */
export function when<In, Out>(
  outcome: NoInfer<Out>,
  eventOf: (input: In) => AuditEvent,
): (input: In, actual: Out) => AuditEvent | undefined {
  return (input, actual) => (actual === outcome ? eventOf(input) : undefined)
}

/** An event about one client. */
export function aboutClient(event: AuditEventName) {
  return (input: ClientId | { readonly id: ClientId }): AuditEvent => ({ event, clientId: idOf(input) })
}

/** The rows of the operations of a noun. */
export type OperationRows<Of> = { readonly [Name in keyof Of & OperationName]: OperationRow<Name> }

/** Names in `details` what a list has more and less than before, separated by spaces. Nothing of a list that did not change. */
export function differences(
  name: string,
  before: readonly string[],
  now: readonly string[],
): Readonly<Record<string, string>> {
  const [added, removed] = [now.filter((one) => !before.includes(one)), before.filter((one) => !now.includes(one))]
  return {
    ...(added.length > 0 && { [`${name}_added`]: added.join(' ') }),
    ...(removed.length > 0 && { [`${name}_removed`]: removed.join(' ') }),
  }
}
