import type { Problem } from '../protocol/validation.ts'

/** Whether the request, what it names, or the state of things is in the way. */
export type AdminErrorKind = 'refused' | 'unknown' | 'conflict'

/** A task that cannot be done as asked. The message is for the operator and says what to do. */
export class AdminError extends Error {
  readonly kind: AdminErrorKind
  /** Of the input's members; empty where the message says it all. */
  readonly problems: readonly Problem[]

  constructor(message: string, kind: AdminErrorKind = 'refused', problems: readonly Problem[] = []) {
    super(message)
    this.name = 'AdminError'
    this.kind = kind
    this.problems = problems
  }
}

/** What the task is about does not exist. */
export function unknown(message: string): AdminError {
  return new AdminError(message, 'unknown')
}

/** It is there already, or changed meanwhile. */
export function conflict(message: string): AdminError {
  return new AdminError(message, 'conflict')
}
