import { createLink } from '../../src/admin/user/link.ts'
import { createUser } from '../../src/admin/user/user.ts'
import { ACCOUNT_LIMIT, ATTEMPT_WINDOW_MS } from '../../src/protocol/sign-in/attempt-limits.ts'
import { accountBucket } from '../../src/requests/attempt-bucket.ts'
import { PASSWORD } from '../../tools/flow.ts'
import type { Grantor } from '../resource-servers/grantor.ts'
import { at, type State } from './states.ts'

/** The page of a user in each state of the account, and what opens on demand on it and on the screen of the audit. */
export async function userStates({ context }: Grantor, console: string, hostile: string): Promise<readonly State[]> {
  const { store, clock } = context
  const create = (email: string, password: string | undefined) =>
    createUser(context, { email, password, name: 'Greta Wagner' })
  const locked = await create('greta@globex.test', PASSWORD)
  const bucket = accountBucket(context, 'greta@globex.test')
  await store.countHit({ bucket, now: clock(), windowMs: ATTEMPT_WINDOW_MS, by: ACCOUNT_LIMIT })
  const disabled = await create('david@globex.test', PASSWORD)
  await store.disableUser({ id: disabled.id, now: clock() })
  const invited = await create('sam@globex.test', undefined)
  await createLink(context, invited.id)
  const opened = (name: string, path: string, summary: string): State => ({
    name,
    async show(tab) {
      await tab.goto(console + path)
      await tab.locator(summary).first().click()
    },
  })
  return [
    at(console, 'a user who is locked', `/users/${locked.id}`),
    at(console, 'a user who is disabled', `/users/${disabled.id}`),
    at(console, 'a user who is invited', `/users/${invited.id}`),
    at(console, 'a user with a hostile name', `/users/${hostile}`),
    opened('more of a user', `/users/${locked.id}`, '.drop > summary'),
    opened('an event of the audit', '/audit', '.feed summary'),
    opened('more filters of the audit', '/audit?since=2026-01-01T10:00:00Z', '.drop > summary'),
    at(console, 'a view of the audit', '/audit?view=failed-sign-ins'),
  ]
}
