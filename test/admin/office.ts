import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { AdminError, type AdminErrorKind } from '../../src/admin/admin-error.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { perform, type Members } from '../support/tasks.ts'

/** Does a task of the table as the command line does. */
export type Perform = <Answer = Members>(name: string, input: Members) => Promise<Answer>

export interface Office {
  readonly stage: AdminServer
  readonly perform: Perform
}

/** A server, and its operator at the command line. */
export async function openOffice(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<Office> {
  const stage = await openAdminServer(t, env)
  return { stage, perform: (name, input) => perform(stage.server.context, name, input) }
}

/** That a task is refused, how, and in which words. */
export async function assertRefused(attempt: Promise<unknown>, kind: AdminErrorKind, says: RegExp): Promise<void> {
  await assert.rejects(attempt, (cause) => {
    assert.ok(cause instanceof AdminError, String(cause))
    assert.match(cause.message, says)
    assert.equal(cause.kind, kind)
    return true
  })
}
