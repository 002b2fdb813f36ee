import type { DatabaseSync } from 'node:sqlite'
import type { Sweep } from '../../ports/operations/server.ts'
import { consentKey, consentOf, idBefore, nextConsent, type Row } from '../rows.ts'
import { findEvicted } from '../shared/registration-counts.ts'
import { forgetNothing } from '../shared/statement.ts'
import { sweepShared } from '../shared/sweep.ts'
import type { Handlers } from './handlers.ts'
import type { RunSteps } from './steps.ts'

export function sweepStatements(database: DatabaseSync, run: RunSteps) {
  const clients = database.prepare(
    `delete from clients where client_id in (
       select client_id from clients where used_at is null and client_id < ? and held_until < ?
         and coalesce(pending_until, 0) < ? and (disabled_at is null or document_url is null)
       order by client_id limit ?)
     returning client_id`,
  )
  const installations = database.prepare('delete from installations where client_id = ?')
  const consentSlice = database.prepare(
    `select user_id, client_id from consents where (user_id, client_id) > (?, ?) order by user_id, client_id limit ?`,
  )
  const hasClient = database.prepare('select 1 from clients where client_id = ?')
  const consents = database.prepare('delete from consents where user_id = ? and client_id = ?')

  function sweepClients(sweep: Sweep): number {
    const { registeredBefore, heldUntil } = run(findEvicted(sweep))
    const removed = clients.all(idBefore(registeredBefore, 'gci_'), heldUntil, sweep.now, sweep.limit)
    for (const row of removed) installations.run((row as Row)['client_id'] ?? null)
    return removed.length
  }

  function sweepConsents(after: string, limit: number): { removed: number; next: string } {
    const slice = consentSlice.all(...consentKey(after), limit).map((row) => consentOf(row as Row))
    const gone = slice.filter(({ clientId }) => hasClient.get(clientId) === undefined)
    const removed = gone.map(({ userId, clientId }) => Number(consents.run(userId, clientId).changes))
    return { removed: removed.reduce((sum, one) => sum + one, 0), next: nextConsent(slice, limit) }
  }

  return {
    sweepExpired(sweep) {
      const { limit, consentsAfter } = sweep
      const consented = sweepConsents(consentsAfter, limit)
      return {
        ...run(sweepShared(sweep, forgetNothing)),
        consentsAfter: consented.next,
        consents: consented.removed,
        clients: sweepClients(sweep),
      }
    },
  } satisfies Partial<Handlers>
}
