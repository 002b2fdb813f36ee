import { problem, type Problem } from '../base/validation.ts'

/** The cause: the request, a record that does not exist, or the state of the server. */
export type AdminErrorKind = 'refused' | 'unknown' | 'conflict'

/** The failure of a task. The message is for the operator and says what to do. */
export class AdminError extends Error {
  readonly kind: AdminErrorKind
  /** The problems of members of the input; empty when the message is complete. */
  readonly problems: readonly Problem[]

  constructor(message: string, kind: AdminErrorKind = 'refused', problems: readonly Problem[] = []) {
    super(message)
    this.name = 'AdminError'
    this.kind = kind
    this.problems = problems
  }
}

/** The record that the task is about does not exist. */
export function unknown(message: string): AdminError {
  return new AdminError(message, 'unknown')
}

/** It is here because the check of the credentials must not load the tasks of organizations. */
export function noSuchOrganization(id: string): AdminError {
  return unknown(`There is no organization ${id}. See "grantor org list".`)
}

/** The record exists already, or was changed at the same time. `problems`: by default the message is about all of the input. */
export function conflict(message: string, problems: readonly Problem[] = []): AdminError {
  return new AdminError(message, 'conflict', problems)
}

/** A member of the body has a value that the state of the server does not allow. */
export function conflictIn(member: string, message: string, value: string): AdminError {
  return conflict(message, [problem(['body', member], 'value_error', message, value, {})])
}
